package generic

import (
	"fmt"

	"paybook/callback/parse"
	"paybook/models"
)

// items is where the single messages of a callback stand that holds several; nil path: the callback is one message.
type items struct {
	path    path
	wrapper string // the key that each element of the array holds its message under; "" when it is the message
}

func (i *items) on() bool { return i.path.query != nil }

// itemsMax is far above what any provider puts into one callback, and bounds the work that one signature can ask for.
const itemsMax = 1000

func (p *Provider) readItems(settings *parse.Section) {
	s := settings.Object("items")
	if s == nil {
		return
	}
	text := s.Need("path")
	found, err := parsePath(text)
	if err != nil && text != "" {
		s.Fail("path", "%v", err)
	}
	if p.form {
		settings.Fail("items", "the content is a form, which has no array")
	}
	p.items = items{path: found, wrapper: s.Text("wrapper", "")}
	s.Close()
}

// split is one request for each item; $ then stands for the item. All of them must be there as described.
func (i *items) split(r *request) ([]*request, error) {
	if !i.on() {
		return []*request{r}, nil
	}
	list, err := i.path.list(r.readJSON())
	if err != nil {
		return nil, refuse(models.ReasonMalformed, fmt.Sprintf("the array %s: %v", i.path, err))
	}
	if len(list) == 0 || len(list) > itemsMax {
		return nil, refuse(models.ReasonMalformed, fmt.Sprintf("the array %s has %d items, expected 1 to %d", i.path, len(list), itemsMax))
	}
	out := make([]*request, len(list))
	for n, v := range list {
		if i.wrapper != "" {
			v = v.Get(i.wrapper)
		}
		if !v.IsObject() {
			return nil, refuse(models.ReasonMalformed, fmt.Sprintf("item %d of the array %s is not as settings.items says", n, i.path))
		}
		item := *r
		item.item = parse.Of(v.Any())
		out[n] = &item
	}
	return out, nil
}
