package ledger

import (
	"context"

	"paybook/models"
)

// Messages lists what the shop is to be told about one order, oldest first, delivered or not.
func (l *Ledger) Messages(ctx context.Context, orderID string) ([]models.Message, error) {
	var list []models.Message
	err := l.read.WithContext(ctx).Where("order_id = ?", orderID).Order("created_at, id").Find(&list).Error
	return list, err
}
