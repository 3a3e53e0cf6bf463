package stripe

import "time"

// PollEvery makes the tests wait less for a report that is being made.
func (p *Provider) PollEvery(d time.Duration) { p.api.poll = d }
