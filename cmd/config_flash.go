package cmd

import "slices"

// readFlash reads the SKUs of the flash sale.
func readFlash(orders *section, redis Redis) []string {
	list := orders.list("flash")
	for _, sku := range list {
		if sku == "" {
			orders.fail("flash", "an empty SKU")
		}
	}
	if len(list) > 0 && redis.URL == "" {
		orders.fail("flash", "a flash sale needs Redis: set redis.url, or leave orders.flash out")
	}
	slices.Sort(list)
	return slices.Compact(list)
}
