package bank

import (
	"strings"
	"testing"
)

// dollar is an account whose bank sends MT940.
func dollar() Bank {
	b := euro()
	b.Format, b.Account = MT940, []string{"12030000/0000202051"}
	return b
}

// mt is a statement of one day: lines between the balances.
func mt(day, opening, closing string, lines ...string) string {
	return strings.Join(append(append([]string{":20:STARTUMS", ":25:12030000/0000202051", ":28C:231/1", ":60F:C" + day + "EUR" + opening}, lines...),
		":62F:C"+day+"EUR"+closing, "-", ""), "\r\n")
}

func TestMT940IsRead(t *testing.T) {
	text := mt("261130", "100,", "318,40",
		":61:2611301130C175,98NTRFNONREF//B1", "/OCMT/EUR177,48//CHGS/EUR1,50/",
		":86:166?00GUTSCHRIFT?109075?20EREF+TXTEST4200XT batch 42, Exa?21mpleShopECOM why? because?30BIC?32ADYEN N.V?33. AMSTERDAM",
		":61:261130CR50,NMSCCUSTOMER REF",
		":86:plain text that is", "broken into two",
		":61:2611301130RC10,00NTRFNONREF//B3",
		":61:261130RD2,42N051NONREF")
	lines := reads(t, dollar(), "2026-11-30", text)
	if sums(lines) != "175.98 50.00 -10.00 2.42" {
		t.Fatalf("%s", sums(lines))
	}
	if l := lines[0]; l.Reference != "B1" || l.Charge != 150 || l.Line != 5 || dateText(l.Booked) != "2026-11-30" ||
		!strings.Contains(strings.Join(l.Texts, "|"), "ADYEN N.V\n. AMSTERDAM|EREF+TXTEST4200XT batch 42, Exa\nmpleShopECOM why? because") {
		t.Errorf("%+v", l)
	}
	if l := lines[1]; l.Reference != "" || strings.Join(l.Texts, "|") != "CUSTOMER REF|plain text that is\nbroken into two" {
		t.Errorf("%+v", l)
	}
	if lines[0].Reversal || !lines[2].Reversal || !lines[3].Reversal {
		t.Errorf("reversals: %+v", lines)
	}
}

// A text that begins like a purpose in pieces is none: no letter stands for the question mark.
func TestMT940PlainPurpose(t *testing.T) {
	for _, purpose := range []string{"100元20261130001", "166GUTSCHRIFT 20", "123 20 x", "100.20.30"} {
		b := dollar()
		lines := reads(t, b, "2026-11-30", mt("261130", "0,", "1,00", ":61:261130C1,00NTRFNONREF", ":86:"+purpose))
		if got := strings.Join(lines[0].Texts, "|"); got != purpose {
			t.Errorf("%q became %q", purpose, got)
		}
	}
}

// An entry date has no year: about the turn of the year it is that of the nearest day.
func TestMT940TurnOfTheYear(t *testing.T) {
	for _, c := range [][3]string{
		{"270101", "1231", "2026-12-31"}, {"261231", "0101", "2027-01-01"}, {"261130", "1130", "2026-11-30"}, {"240229", "0229", "2024-02-29"},
		{"280103", "1229", "2027-12-29"},
	} {
		day := strings.ReplaceAll(c[2], "-", "")[2:]
		lines := reads(t, dollar(), c[2], mt(day, "0,", "1,00", ":61:"+c[0]+c[1]+"C1,00NTRFNONREF"))
		if dateText(lines[0].Booked) != c[2] {
			t.Errorf("%v: %s", c, dateText(lines[0].Booked))
		}
	}
	_, err := readFile(t, dollar(), "2027-02-28", mt("270228", "0,", "1,00", ":61:2702281331C1,00NTRFNONREF"))
	refused(t, err, "row 5", "1331", "MMDD")
}

func TestMT940Envelopes(t *testing.T) {
	plain := mt("261130", "0,", "1,00", ":61:261130C1,00NTRFNONREF")
	swift := "{1:F01XXXXDEFFAXXX0000000000}{2:I940YYYYDEFFXXXXN}{4:\r\n" + strings.TrimSuffix(plain, "-\r\n") + "-}"
	for name, text := range map[string]string{
		"plain": plain, "swift": swift, "LF": strings.ReplaceAll(plain, "\r\n", "\n"), "CR": strings.ReplaceAll(plain, "\r\n", "\r"),
		"BOM": "\ufeff" + plain, "without an end": strings.TrimSuffix(plain, "-\r\n"), "blank lines": "\r\n" + strings.ReplaceAll(plain, "\r\n:61", "\r\n\r\n:61"),
		"available balances": strings.Replace(plain, "\r\n-", "\r\n:64:C261130EUR1,00\r\n:65:C261201EUR1,00\r\n:86:the whole statement\r\n-", 1),
	} {
		if lines := reads(t, dollar(), "2026-11-30", text); sums(lines) != "1.00" || len(lines[0].Texts) != 0 {
			t.Errorf("%s: %+v", name, lines)
		}
	}
	_, err := readFile(t, dollar(), "2026-11-30", strings.TrimSuffix(swift, "-}"))
	refused(t, err, "cut")
}

// Several statements of a file follow one another by their balances; those of other accounts are left out, and told.
func TestMT940SeveralStatements(t *testing.T) {
	one := mt("261127", "0,", "1,00", ":61:261127C1,00NTRFNONREF")
	two := strings.Replace(mt("261130", "1,00", "3,00", ":61:261130C2,00NTRFNONREF"), ":60F:C261130", ":60F:C261127", 1)
	other := strings.Replace(mt("261130", "7,00", "7,00"), "0000202051", "0000999999", 1)
	in, err := readFile(t, dollar(), "2026-11-30", one+other+two)
	if err != nil {
		t.Fatal(err)
	}
	if len(in.statements) != 2 || len(in.notes) != 1 || !strings.Contains(in.notes[0], "1203…9999") {
		t.Errorf("%d statements, notes %q", len(in.statements), in.notes)
	}
	if s := (&run{intake: in}).freshStatements(); s[1].From != "2026-11-28" || s[1].To != "2026-11-30" {
		t.Errorf("%+v", s)
	}
	gone := strings.Replace(two, "EUR1,00", "EUR2,00", 1)
	gone = strings.Replace(gone, "EUR3,00", "EUR4,00", 1)
	_, err = readFile(t, dollar(), "2026-11-30", one+gone)
	refused(t, err, "opens with 2.00 EUR", "closes with 1.00 EUR", "missing, or they overlap")
	_, err = readFile(t, dollar(), "2026-11-30", other)
	refused(t, err, "account 1203…9999", "ours is 1203…2051")
}

func TestMT940Pages(t *testing.T) {
	page := func(n, opening, closing, line string) string {
		return ":20:X\n:25:12030000/0000202051\n:28C:231/" + n + "\n:" + opening + "\n:61:261130C" + line + "NTRFNONREF\n:" + closing + "\n-\n"
	}
	one := page("1", "60F:C261130EUR0,", "62M:C261130EUR1,", "1,")
	two := page("2", "60M:C261130EUR1,", "62F:C261130EUR3,", "2,")
	for _, text := range []string{one + two, two + one} {
		if in, err := readFile(t, dollar(), "2026-11-30", text); err != nil || len(in.statements) != 1 || sums(in.statements[0].Lines) != "1.00 2.00" {
			t.Errorf("%+v, %v", in, err)
		}
	}
	_, err := readFile(t, dollar(), "2026-11-30", one)
	refused(t, err, "last is not there")
	_, err = readFile(t, dollar(), "2026-11-30", two)
	refused(t, err, "page 1 is missing")
}

func TestMT940Encodings(t *testing.T) {
	text := mt("261130", "0,", "1,00", ":61:261130C1,00NTRFNONREF", ":86:M%nchen")
	b := dollar()
	_, err := readFile(t, b, "2026-11-30", strings.Replace(text, "%", "\xfc", 1))
	refused(t, err, "row 6", "column 6", "banks[].encoding")
	for encoding, bytes := range map[string]string{"latin1": "\xfc", "windows-1252": "\xfc", "utf-8": "ü", "gbk": "\xa8\xb9"} {
		b.Encoding = encoding
		if lines := reads(t, b, "2026-11-30", strings.Replace(text, "%", bytes, 1)); lines[0].Texts[0] != "München" {
			t.Errorf("%s: %q", encoding, lines[0].Texts)
		}
	}
}

func TestMT940IsRefused(t *testing.T) {
	good := mt("261130", "5,00", "6,00", ":61:2611301130C1,00NTRFNONREF//B1", ":86:text")
	for name, c := range map[string]struct {
		old, new string
		want     []string
	}{
		"closing balance":    {":62F:C261130EUR6,00\r\n", "", []string{"62F", "cut"}},
		"opening balance":    {":60F:C261130EUR5,00\r\n", "", []string{"row 4", "no opening balance (:60F:)"}},
		"no account":         {":25:12030000/0000202051\r\n", "", []string{"25", "which account"}},
		"sum":                {"EUR6,00", "EUR7,00", []string{"opening balance 5.00 EUR", "closing balance is 7.00 EUR"}},
		"sign":               {":60F:C", ":60F:D", []string{"opening balance -5.00 EUR"}},
		"currency":           {":62F:C261130EUR", ":62F:C261130USD", []string{"currency USD"}},
		"point":              {"C1,00", "C1.00", []string{"row 5", "with a comma"}},
		"decimals":           {"C1,00", "C1,001", []string{"row 5", "decimals"}},
		"mark":               {"1130C1", "1130X1", []string{"row 5", "D or C"}},
		"date":               {":61:261130", ":61:261399", []string{"row 5"}},
		"balance's date":     {":60F:C261130", ":60F:C269930", []string{"row 4", "YYMMDD"}},
		"balance's mark":     {":60F:C", ":60F:X", []string{"row 4", "D or C"}},
		"two openings":       {":61:", ":60F:C261130EUR5,00\r\n:61:", []string{"second opening balance"}},
		"two closings":       {"\r\n-", "\r\n:62F:C261130EUR6,00\r\n-", []string{"second closing balance"}},
		"late line":          {"\r\n-", "\r\n:61:261130C1,00NTRFNONREF\r\n-", []string{"outside of the balances"}},
		"page":               {"231/1", "231/x", []string{"row 3", "number/page"}},
		"before a statement": {":20:STARTUMS\r\n", "", []string{"stands before :20:"}},
		"MT942":              {":60F:C261130EUR5,00", ":34F:EUR0,", []string{"MT942"}},
		"zero byte":          {"text", "te\x00xt", []string{"row 6", "zero byte"}},
		"another day":        {"261130", "261201", []string{"2026-12-01", "run is for 2026-11-30"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if name == "another day" {
				text = strings.ReplaceAll(strings.ReplaceAll(good, c.old, c.new), "2612011130C", "2612011201C")
			}
			if text == good {
				t.Fatal("nothing was changed")
			}
			_, err := readFile(t, dollar(), "2026-11-30", text)
			refused(t, err, c.want...)
		})
	}
	for name, c := range map[string][2]string{
		"XML": {"<Document/>", "not an MT940"}, "JSON": {`{"code":"NO_STATEMENT"}`, "not an MT940"}, "text": {"hello\n", "no field :20:"},
		"empty": {"", "empty"}, "long line": {":20:" + strings.Repeat("x", 2<<20), "1 MiB"},
	} {
		_, err := readFile(t, dollar(), "2026-11-30", c[0])
		t.Log(name)
		refused(t, err, c[1])
	}
}

// The account is ours however a bank writes it, and no other is.
func TestSameAccount(t *testing.T) {
	b := Bank{Account: []string{"NL91 ABNA 0417 1643 00", "12030000/202051", "COBADEFF/4711"}, Currency: "EUR"}
	for _, ours := range []string{"NL91ABNA0417164300", "nl91abna0417164300", "NL91ABNA0417164300EUR", "NL91ABNA0417164300 EUR", "12030000/202051",
		"ABNANL2A/NL91ABNA0417164300", "ABNANL2AXXX/NL91ABNA0417164300EUR", "COBADEFF/4711", "4711 EUR"} {
		if !b.sameAccount(ours) {
			t.Error(ours)
		}
	}
	for _, other := range []string{"DEUTDEFF/4711", "", "NL91ABNA0417164300USD", "NL91ABNA041716430", "202051", "EUR", "ABNANL2A/", "ABNANL2A/NL91ABNA0417164301"} {
		if b.sameAccount(other) {
			t.Error(other)
		}
	}
}
