package ledger

import "strconv"

// builder puts a statement together: text and its arguments, in either dialect's placeholders.
type builder struct {
	sign byte // what a placeholder begins with
	text []byte
	args []any
}

func (l *Ledger) sql(text string) *builder {
	return &builder{sign: l.dialect.mark(1)[0], text: append(make([]byte, 0, len(text)+512), text...)}
}

// sized is sql for a statement of n arguments.
func (l *Ledger) sized(text string, n int) *builder {
	return &builder{sign: l.dialect.mark(1)[0], text: append(make([]byte, 0, len(text)+128+6*n), text...), args: make([]any, 0, n)}
}

func (b *builder) add(text string) *builder { b.text = append(b.text, text...); return b }

func (b *builder) arg(v any) *builder {
	b.args = append(b.args, v)
	b.text = append(b.text, b.sign)
	if b.sign == '$' { // SQLite takes them in their order: there, finding a parameter by its number costs the square of their count
		b.text = strconv.AppendInt(b.text, int64(len(b.args)), 10)
	}
	return b
}

// row adds (v1,v2,…), with a comma before it unless it is the first.
func (b *builder) row(first bool, values ...any) *builder {
	if !first {
		b.text = append(b.text, ',')
	}
	return b.list(values...)
}

// list adds (v1,v2,…).
func (b *builder) list(values ...any) *builder {
	b.text = append(b.text, '(')
	for i, v := range values {
		if i > 0 {
			b.text = append(b.text, ',')
		}
		b.arg(v)
	}
	b.text = append(b.text, ')')
	return b
}

// valuesRow adds a row of a VALUES list that is not an INSERT's. Its first row decides the types of the columns, so there each value is
// cast, to a type both databases spell alike; in every row the casts would keep SQLite from using an index.
func (b *builder) valuesRow(first bool, types []string, values ...any) *builder {
	if !first {
		return b.row(false, values...)
	}
	b.add("(")
	for i, v := range values {
		if i > 0 {
			b.add(",")
		}
		b.add("CAST(").arg(v).add(" AS ").add(types[i]).add(")")
	}
	return b.add(")")
}

func (b *builder) String() string { return string(b.text) }

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}
