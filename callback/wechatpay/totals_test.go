package wechatpay

import "testing"

func TestParseYuan(t *testing.T) {
	good := map[string]string{
		"": "0.00", "0": "0.00", "20": "20.00", "19.9": "19.90", "19.990000000": "19.99", "-0.27000": "-0.27", "0.00001": "0.00001",
		"-0.00": "0.00", "999999999999.99999": "999999999999.99999", "007.10": "7.10",
	}
	for text, want := range good {
		if got, ok := parseYuan(text); !ok || got.String() != want {
			t.Errorf("parseYuan(%q) = %s, %v; want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"-", ".", ".5", "5.", "--1", "+1", "1e3", "1,000.00", "0x1", " 1", "1.000001", "1.x", "1000000000000", "１", "−1", "1.-5"} {
		if got, ok := parseYuan(text); ok {
			t.Errorf("parseYuan(%q) = %s, want it refused", text, got)
		}
	}
}

func TestFeeIsRoundedHalfAwayFromZero(t *testing.T) {
	for text, want := range map[string]int64{"0.32000": 32, "-0.27000": -27, "0.05940": 6, "-0.05940": -6, "0.00500": 1, "0.00499": 0, "": 0} {
		b := &bill{header: []string{"手续费"}, cells: []string{text}}
		if got, err := b.feeMoney(0, "CNY"); err != nil || got.Minor != want {
			t.Errorf("feeMoney(%q) = %d, %v; want %d", text, got.Minor, err, want)
		}
	}
}

// TestUsualAmounts: the short way to read an amount gives what the long one does, or nothing.
func TestUsualAmounts(t *testing.T) {
	for _, s := range []string{"0.00", "12.34", "999999999999.99", "1234567890123.00", "-1.00", "1.2", "1.234", ".12", "1..2", "1.2a", "a.12", "00.10", "12", "1,2.00", "１.00"} {
		if n, ok := parseFen(s); ok {
			if want, known := parseYuan(s + "0"); !known || n != want {
				t.Errorf("%q is %d, %v; with a zero behind it %d, %v", s, n, ok, want, known)
			}
		}
	}
	for s, want := range map[string]yuan{"0.00": 0, "12.34": 12_34000, "999999999999.99": 999999999999_99000} {
		if n, ok := parseFen(s); !ok || n != want {
			t.Errorf("%q is %d, %v; want %d", s, n, ok, want)
		}
	}
}
