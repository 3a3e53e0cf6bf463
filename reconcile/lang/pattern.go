package lang

import (
	"regexp"
	"strings"
)

// pattern is one sentence of the catalogue, as it is found in a text.
type pattern struct {
	like    *regexp.Regexp
	names   []string // of the places, in the order of the English
	chinese string
}

// places are what may stand in a sentence, by name. A digit behind a name tells two of a kind apart: money, money2.
var places = map[string]string{
	"money": `-?[0-9.]+ [A-Z]{3}`,
	"date":  `\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?`,
	"n":     `\d+`,
	"word":  `[a-z_]+(?: [a-z]+)?`, // of ours, and translated
	"title": `an? [a-z -]+`,        // of a file, translated too
	"text":  `.*`,                  // a name, an id, a stranger's word: it stays as it is
	"rows":  `.+`,                  // rows of files
	"name":  `[^;]*`,               // text in what may stand in a list, between semicolons
	"more":  `.+?`,                 // a sentence in the sentence
}

var (
	placeName = regexp.MustCompile(`\{([a-z]+)\d?\}`)
	quoted    = regexp.MustCompile(`\\\{([a-z]+)\d?\\\}`) // the same behind QuoteMeta
)

// patterns is the catalogue ready to be searched.
var patterns = func() []pattern {
	list := make([]pattern, len(sentences))
	for i, s := range sentences {
		like := quoted.ReplaceAllStringFunc(regexp.QuoteMeta(s.english), func(place string) string {
			return "(" + places[quoted.FindStringSubmatch(place)[1]] + ")"
		})
		list[i] = pattern{regexp.MustCompile("(?s)^" + like + "$"), placeName.FindAllString(s.english, -1), s.chinese}
	}
	return list
}()

// translate finds the sentence, or takes it apart at a semicolon, from the last one on: what is behind it is a sentence of its own.
func translate(english string) (string, bool) {
	for i := range patterns {
		if found := patterns[i].like.FindStringSubmatch(english); found != nil {
			return patterns[i].say(found[1:]), true
		}
	}
	const between = "; "
	for end := strings.LastIndex(english, between); end > 0; end = strings.LastIndex(english[:end], between) {
		before, knownBefore := translate(english[:end])
		behind, knownBehind := translate(english[end+len(between):])
		if knownBefore && knownBehind {
			return before + "；" + behind, true
		}
	}
	return english, false
}

func (p *pattern) say(found []string) string {
	fill := make([]string, 0, 2*len(found))
	for i, text := range found {
		switch placeName.FindStringSubmatch(p.names[i])[1] {
		case "word", "title":
			text = Chinese.Word(text)
		case "rows":
			text = sayRows(text)
		case "more":
			text = Chinese.Sentence(text)
		}
		fill = append(fill, p.names[i], text)
	}
	return strings.NewReplacer(fill...).Replace(p.chinese)
}

var (
	rowNumber = regexp.MustCompile(`\brow (\d+)`)
	rowsMore  = regexp.MustCompile(` and (\d+) more$`)
	rowSays   = regexp.MustCompile(` says (` + places["money"] + `) ([a-z_]+)`)
	inRows    = strings.NewReplacer(" and ", "和", ", ", "、", " for order ", "，订单 ")
)

// sayRows says a list such as "bill.csv, row 7 says 20.00 CNY succeeded and row 9".
func sayRows(rows string) string {
	rows = rowSays.ReplaceAllStringFunc(rows, func(clause string) string {
		found := rowSays.FindStringSubmatch(clause)
		return "为 " + found[1] + " " + Chinese.Word(found[2])
	})
	rows = rowsMore.ReplaceAllString(rows, "等，另有 $1 行")
	return inRows.Replace(rowNumber.ReplaceAllString(rows, "第 $1 行"))
}
