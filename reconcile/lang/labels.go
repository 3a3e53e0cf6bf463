package lang

// labels are headings and lines of reports, by the English format.
var labels = map[string]string{
	// of tables and pages
	"account": "账号", "day": "日期", "result": "结果", "compared": "比对行数", "matched": "相符", "gaps": "差异", "carried": "结转", "healed": "已消除",
	"of": "类型", "currency": "币种", "statement": "账单", "book": "账簿", "amount": "金额", "fee": "手续费", "difference": "差额", "step": "项目",
	"rows": "行数", "gap": "差异号", "transaction": "交易号", "order": "订单号", "order asks": "订单金额", "kind": "差异类型", "state": "状态",
	"days": "天数", "why": "原因", "next": "下一步", "payout": "出款", "= expected": "＝ 应出款",
	"paid out": "实际出款", "remainder": "未解释余额", "payment": "支付号", "refund": "退款号", "first seen": "首次发现", "resolved": "解决于",
	"resolution": "处理说明", "owner": "负责人", "due on": "截止日", "due": "截止日", "overdue": "已逾期", "history": "经过", ", fee %s": "，手续费 %s",

	"Reconciliation report": "对账报告", "Summary": "汇总", "Runs": "对账", "Gaps": "差异", "Totals": "合计", "Gaps by kind": "差异按类型", "Gaps by age": "差异按天数",
	"Payouts": "出款", "Notes": "说明", "note": "说明", "word": "代码", "provider": "渠道", "time zone": "时区", "run": "对账号", "status": "状态",
	"evidence": "证据", "nothing": "无", "today": "当天", "1 day": "1 天", "2 to 3 days": "2 至 3 天", "4 to 7 days": "4 至 7 天",
	"8 to 30 days": "8 至 30 天", "over 30 days": "30 天以上", "How the payout came about": "出款构成", "row %d": "第 %d 行", "one of: %s": "只能填：%s",
	"%d further payouts are not on this page; the XLSX and JSON reports have all of them": "另有 %d 笔出款未列在本页；XLSX 和 JSON 报表有全部",
	"%d further gaps are not on this page; the XLSX and CSV reports have all of them":     "另有 %d 处差异未列在本页；XLSX 和 CSV 报表有全部",

	// how far a run is
	"%s: %s rows": "%s：%s 行", "%s a second": "每秒 %s 行", "%s left": "剩余 %s", "all read, settling what is left": "已读完，正在处理余下部分", ", ": "，",

	// of banks
	"%s to %s": "%s 至 %s", "statement %s of %s: %s": "对账单 %s，%s：%s", "statement of %s: %s": "%s 的对账单：%s", ", %s before, %s %s after": "，期初 %s，期末 %s %s",
	"%s announced and not booked: not counted": "%s已预告未记账：不计", "came": "到账日", "bank's reference": "银行附言", "bank fee": "银行费用",
	"found by": "匹配依据", "Bank": "银行", "Repairs": "补单",
	"%d further items are not on this page; the XLSX and JSON reports have all of them": "另有 %d 项未列在本页；XLSX 和 JSON 报表有全部",

	// of a bank account
	", %s before, %s after": "，期初 %s，期末 %s", "booked": "入账日", "reference": "银行流水号",

	// lines of a run
	"could not be run":          "未能对账",
	"no new statement":          "没有新账单",
	"no statement: declared so": "无账单：已声明",
	"control totals: %s; %s read, %d compared, %d matched; %s in the book": "控制总数：%s；读取 %s，比对 %d 行，相符 %d；账簿中 %s",
	"carried: waits for a neighbouring day's statement":                    "结转：等待相邻日账单",
	"accepted: resolved by a person, still there":                          "已认可：由人工解决，差异仍在",
	"and %d more: app gaps list, or --format json":                         "另有 %d 处：app gaps list，或 --format json",
	"and %d more payouts: app payouts list, or --format json":              "另有 %d 笔出款：app payouts list，或 --format json",
	"rows of no payout": "未出款的明细", "expected": "应出款", "paid": "实际出款",
	"books": "记账", "at": "时间", "comes to": "结果", "progress": "进度", "the shop is told": "通知商城", "not repairable": "不能补单", "nothing to book": "没有可记账的内容",
	"repair": "补单号", "repair %s": "补单 %s", "repair (not kept)": "补单（未保存）", "planned": "计划于", "by": "操作人", "approved by": "批准人",
	"applied by": "执行人", "reversed by": "撤销人", "%s by %s, %s": "%s：%s，%s", "because: ": "原因：", "%s: ": "%s：",
	"no repairs; plan one by app reconcile --date DAY --repair": "没有补单；用 app reconcile --date DAY --repair 制定",
	"%s can be closed: app repair apply %s":                     "可消除 %s：app repair apply %s",
	"%s can be closed; nothing was written":                     "可消除 %s；未写入任何内容", "%s closed by repair %s": "已消除 %s，补单 %s", "nothing to repair": "没有可补单的内容",
	"no payouts":     "没有出款",
	"no gaps":        "没有差异",
	"%s, %s ago":     "%s，%s前",
	"  (%s, row %d)": "（%s 第 %d 行）",

	// of the audit log and the archive
	"audit log": "审计日志", "%s that hold, from %s to %s": "%s，均完好，自 %s 至 %s", "head": "日志末尾", "checked": "已核对", "broken": "损坏处", "differs": "不符项",
	"and %d more": "另有 %d 处", "the log holds, and all is as it says": "日志完好，一切与其所记相符",
	"broken: keep this database as it is, and look at a backup from before": "日志已损坏：请原样保留此数据库，并查看此前的备份",
	"row": "行号", "subject": "对象", "file": "文件", "sha256": "SHA-256", "bytes": "字节", "from": "来源", "fetched": "下载于", "what": "经过", "nothing is archived of %s": "%s没有归档文件", "yesterday": "昨天",
	"audit head %s": "审计日志末尾 %s",

	// of decisions in a spreadsheet
	"decision": "决定", "was so already": "先前已如此", "no decisions": "没有决定",
	"%s: %s applied; %d already as decided\n":                               "%s：%s已执行；%d 项先前已如此\n",
	"%s: %s would be applied, nothing was written; %d already as decided\n": "%s：%s可执行，未写入任何内容；%d 项先前已如此\n",

	// columns of CSV and XLSX; those that `app gaps apply` reads are spelled alike in every language
	"date": "账务日期", "entry_kind": "交易类型", "transaction_id": "交易号", "order_id": "订单号", "parent_id": "原支付号",
	"refund_order_id": "商户退款号", "new": "新发现", "statement_amount": "账单金额", "statement_currency": "账单币种", "statement_status": "账单状态",
	"statement_file": "账单文件", "statement_line": "账单行号", "ledger_amount": "账簿金额", "ledger_currency": "账簿币种", "ledger_status": "账簿状态",
	"order_amount": "订单金额", "order_currency": "订单币种", "order_status": "订单状态", "statement_fee": "账单手续费", "ledger_fee": "应收手续费",
	"reason": "原因", "first_seen": "首次发现", "age_days": "已有天数",
}
