package cmd

import (
	"github.com/spf13/cobra"

	"paybook/models"
)

var allGapKinds = []models.GapKind{models.GapMissingLocal, models.GapMissingProvider, models.GapAmount, models.GapCurrency, models.GapStatus,
	models.GapDuplicateEntry, models.GapConflict, models.GapUnknownOrder, models.GapPaidAfterClose, models.GapDuplicatePayment,
	models.GapNotAllowed, models.GapWrongDay, models.GapUnknownStatus, models.GapFee, models.GapPayout, models.GapBankMissing,
	models.GapBankUnexpected}

func newGapsCommand(a *app) *cobra.Command {
	return newGroup("gaps", "Look at the differences that daily runs have found, share them out, and resolve them",
		newGapsListCommand(a), newGapsShowCommand(a), newGapsAssignCommand(a), newGapsCommentCommand(a), newGapsResolveCommand(a),
		newGapsReopenCommand(a), newGapsApplyCommand(a))
}
