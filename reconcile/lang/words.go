package lang

// words are ours, as they stand in a sentence or a column.
var words = map[string]string{
	// kinds of movements, as the book calls them and as a sentence does
	"payment": "支付", "refund": "退款", "chargeback": "拒付", "payout": "出款", "refund_reversal": "退款退回",
	"chargeback_reversal": "拒付撤回", "returned refund": "退回的退款", "returned chargeback": "撤回的拒付",
	"fee": "手续费", "conversion": "换汇", "adjustment": "调整", "reserve": "准备金",
	"payments": "支付", "refunds": "退款", "chargebacks": "拒付", "returned refunds": "退回的退款", "returned chargebacks": "撤回的拒付",

	// steps of a payout bridge
	"refund_reversals": "退款退回", "chargeback_reversals": "拒付撤回", "fees": "手续费", "conversions": "换汇", "reserves": "准备金",
	"adjustments": "调整", "remainder": "未解释余额", "expected": "应出款", "paid out": "实际出款",

	// statuses of transactions and orders
	"pending": "处理中", "authorised": "已授权", "succeeded": "成功", "failed": "失败", "closed": "已关闭", "reversed": "已撤销",
	"unpaid": "未支付", "paying": "支付中", "paid": "已支付", "shipped": "已发货", "part_refunded": "部分退款", "refunded": "已退款",
	"disputed": "争议中", "charged_back": "已拒付",

	// kinds of gaps
	"missing_local": "账簿缺失", "missing_provider": "账单缺失", "amount_mismatch": "金额不符", "currency_mismatch": "币种不符",
	"status_mismatch": "状态不符", "fee_mismatch": "手续费不符", "duplicate_entry": "账单重复", "conflict": "内容矛盾",
	"unknown_order": "订单不明", "paid_after_close": "关单后支付", "duplicate_payment": "重复支付", "not_allowed": "不合规变动",
	"wrong_day": "日期不符", "unknown_status": "状态不明", "payout_mismatch": "出款不符", "bank_missing": "银行未入账",
	"bank_unexpected": "银行多入账", "unknown_kind": "类型不明",

	// states of gaps, results of runs, what differs
	"open": "未决", "carried": "结转", "resolved": "已解决", "balanced": "平账", "gaps": "有差异", "agree": "相符", "none": "无",
	"amount": "金额", "currency": "币种", "status": "状态", "true": "是", "false": "否",

	// how a payout was found at the bank
	"reference": "附言", "sum": "合计", "parts": "分笔",

	// what a file is, with its article
	"an account bill": "账户账单", "an account bill summary": "账户账单汇总", "a balance report": "余额报表", "a batch": "批次", "a bill": "账单",
	"a business bill": "业务账单", "a business summary": "业务账单汇总", "a download answer": "下载应答", "a fund flow bill": "资金账单",
	"a fund-flow bill": "资金账单", "an invoice": "发票", "a payment accounting report": "支付核算报表", "a payouts file": "出款文件",
	"a settlement details report": "结算明细报表", "a settlement report": "结算报表", "a settlement": "结算文件", "a summary file": "汇总文件",
	"a summary report": "汇总报表", "a summary": "汇总", "a trade bill": "交易账单", "a transaction detail report": "交易明细报表",
	"a balance report or activity download": "余额报表或活动下载",

	// repairs, and what a booking comes to
	"planned": "已计划", "approved": "已批准", "applied": "已生效", "dropped": "已放弃", "already_there": "已在账簿", "refused": "已拒绝",
	"not_repairable": "不能补单", "duplicate": "重复", "no_order": "待订单", "noted": "已记录",

	// what a person decides of a gap
	"resolve": "解决", "reopen": "重新打开", "assign": "指派", "comment": "备注",

	// a line of the bank
	"booked": "已入账", "reversal": "冲正", "credit": "收入", "debit": "支出",

	"order": "订单", "orders": "订单", "gap": "差异", "row": "行", "rows": "行", "transaction": "交易", "transactions": "交易",
}

// counted are things behind their number.
var counted = map[string]string{
	"row": "行", "line": "行", "gap": "处差异", "transaction": "笔交易", "day": "天", "run": "次对账", "repair": "次补单", "payout": "笔出款", "decision": "项决定",
}
