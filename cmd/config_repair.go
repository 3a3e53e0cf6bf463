package cmd

// readRepair reads how many persons a repair needs.
func readRepair(s *section) (approvals int) {
	return s.object("repair", "approvals").whole("approvals", 1, 1, 2)
}
