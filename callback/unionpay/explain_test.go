package unionpay

import (
	"strings"
	"testing"

	"paybook/models"
)

// A terminal or a log keeps what is explained, so it holds no card's number, and nothing of the person.
func TestExplainMasksCards(t *testing.T) {
	p := mustNew(t, nil)
	cb := sent(t, production, payment(fields{"accNo": "6216261000000000018", "payCardNo": "6216 6216261000000000018", "customerInfo": "e3Bob25lTm89MTM5fQ=="}))
	var text string
	for _, step := range p.Explain(t.Context(), cb) {
		text += step.Value + step.Detail
		if !step.OK {
			t.Errorf("step %+v", step)
		}
	}
	for _, want := range []string{"accNo=621626*********0018&", "payCardNo=6216 621626*********0018&", "customerInfo=***&", "queryId=202611291000000000001&"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if strings.Contains(text, "6216261000000000018") || strings.Contains(text, "e3Bob25l") {
		t.Errorf("shown: %s", text)
	}
}

func TestExplainTwoWays(t *testing.T) {
	p := mustNew(t, nil)
	signed := sign(t, production(t), payment(nil))
	cb := received(encode(with(signed, fields{"queryId": signed["queryId"] + "&reqReserved=" + signed["reqReserved"], "reqReserved": "-"})))
	steps := p.Explain(t.Context(), cb)
	if last := steps[len(steps)-1]; last.OK || last.Name != string(models.ReasonSignature) || !strings.Contains(last.Detail, "read in two ways") {
		t.Errorf("step %+v", last)
	}
}
