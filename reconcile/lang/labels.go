package lang

// labels are headings and lines of reports, by the English format.
var labels = map[string]string{}
