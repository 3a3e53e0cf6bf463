package lang

// sentence is one thing that reports say, with places for what it is about: {money}, {text}… (see places).
type sentence struct{ english, chinese string }

// sentences are what gaps, runs and the book say: reconcile/words.go, the notes of a run, the remarks of ledger. Of two that fit, the first
// is taken. A new one is added here in both languages; a test names those that are not.
var sentences = []sentence{
	// one side only
	{"{text}, row {n} has this {word} of {money}, the book does not: its callback never arrived or was refused",
		"{text} 第 {n} 行有这笔 {money} 的{word}，账簿没有：回调从未到达，或被拒收"},
	{"the book has this {word} of {money} as {word2}, the statement of {date} does not have it",
		"账簿有这笔 {money} 的{word}（{word2}），{date} 的账单没有"},
	{"{text}, row {n} is a {word} of {date}, in the statement of {date2}, and the book does not know it",
		"{text} 第 {n} 行是 {date} 的{word}，却在 {date2} 的账单里，且账簿没有这一笔"},
	{"its id ends in many zeros, so the file may have been saved by a spreadsheet, which rounds long numbers",
		"其单号末尾有许多零，文件可能被电子表格另存过，长数字被取整"},
	{"ids in the statement end in many zeros, so it may have been saved by a spreadsheet, which rounds long numbers",
		"账单里的单号末尾有许多零，文件可能被电子表格另存过，长数字被取整"},
	{"of the same order the book has {text}, which the statement does not have", "同一订单账簿有 {text}，而账单没有"},
	{"of the same order the statement has {text}, which the book does not have", "同一订单账单有 {text}，而账簿没有"},

	// two sides that disagree
	{"the statement says {money}, the book {money2}", "账单为 {money}，账簿为 {money2}"},
	{"the statement calls it {word}, the book {word2}", "账单的状态为{word}，账簿的状态为{word2}"},
	{"{text}, row {n}: status {text2} is a word we do not know; it was not taken for succeeded",
		"{text} 第 {n} 行：状态 {text2} 无法识别，未当作成功处理"},

	// fees and payouts
	{"the statement's fee is {text}, the fee schedule asks for {text2} (fees[{n}]: {text3}): {text4} too little",
		"账单手续费为 {text}，费率表应为 {text2}（fees[{n}]：{text3}）：少 {text4}"},
	{"the statement's fee is {text}, the fee schedule asks for {text2} (fees[{n}]: {text3}): {text4} too much",
		"账单手续费为 {text}，费率表应为 {text2}（fees[{n}]：{text3}）：多 {text4}"},
	{"the statement's fee is {text}, the fee schedule asks for {text2} (fees[{n}]: {text3})", "账单手续费为 {text}，费率表应为 {text2}（fees[{n}]：{text3}）"},
	{"the statement's fee is {text}, the fee schedule asks for {text2}: {text3} too little", "账单手续费为 {text}，费率表应为 {text2}：少 {text3}"},
	{"the statement's fee is {text}, the fee schedule asks for {text2}: {text3} too much", "账单手续费为 {text}，费率表应为 {text2}：多 {text3}"},
	{"the statement's fee is {text}, the fee schedule asks for {text2}", "账单手续费为 {text}，费率表应为 {text2}"},
	{"the rows of payout {text} come to {money}, the provider paid {text2}: {text3} more than they explain",
		"结算 {text} 的明细合计 {money}，渠道实付 {text2}：比明细多 {text3}"},
	{"the rows of payout {text} come to {money}, the provider paid {text2}: {text3} less than they explain",
		"结算 {text} 的明细合计 {money}，渠道实付 {text2}：比明细少 {text3}"},
	{"rows may still come with the statements of {text}", "明细仍可能在 {text} 的账单中出现"},
	{"none", "无"},
	{"not explained by the rows", "明细无法解释"},
	{"no payout is told in this currency", "该币种未告知结算"},
	{"the statements do not say which rows it pays", "账单未说明它结算哪些明细"},
	{"the payout came to nothing: the money stays in the balance", "结算未成，款项留在余额中"},
	{"stays in the balance, or is not paid out yet", "留在余额中，或尚未结算"},
	{"paid from what the balance held before", "由此前的余额支付"},
	{"fees[{n}]: of some rows the statement has no amount in the currency of the fee, to take the rate of: their fees were not checked",
		"fees[{n}]：有些行的账单金额不是手续费的币种，无从计算费率：其手续费未核对"},

	// rows that repeat or contradict
	{"the statement has this {word} of {money} {n} times, {rows}; it was counted once", "账单把这笔 {money} 的{word}列了 {n} 次：{rows}；只计一次"},
	{"the statement contradicts itself about this {word}: {rows}", "账单对这笔{word}自相矛盾：{rows}"},
	{"two callbacks contradict each other about this {word}: {more}", "两个回调对这笔{word}说法矛盾：{more}"},
	{"two callbacks contradict each other about this {word}", "两个回调对这笔{word}说法矛盾"},

	// pairs that do not fit their order
	{"statement and book agree, and the order {text} is known, but the payment of this {word} is not booked as paid: its callback never arrived or was refused",
		"账单与账簿一致，订单 {text} 也在，但这笔{word}所属的付款未记为已支付：回调从未到达，或被拒收"},
	{"statement and book agree, and the order {text} is known, but the payment {text2} of this {word} is not booked as paid: its callback never arrived or was refused",
		"账单与账簿一致，订单 {text} 也在，但这笔{word}所属的付款 {text2} 未记为已支付：回调从未到达，或被拒收"},
	{"statement and book agree on {money}, the order is of {money2}", "账单与账簿一致，均为 {money}，而订单金额为 {money2}"},
	{"statement and book agree, but nothing names the order of this {word}: {more}", "账单与账簿一致，但没有任何信息指明这笔{word}的订单：{more}"},
	{"statement and book agree, but nothing names the order of this {word}", "账单与账簿一致，但没有任何信息指明这笔{word}的订单"},
	{"statement and book agree, but the order {text} of this {word} is not known: {more}", "账单与账簿一致，但这笔{word}的订单 {text} 不存在：{more}"},
	{"statement and book agree, but the order {text} of this {word} is not known", "账单与账簿一致，但这笔{word}的订单 {text} 不存在"},
	{"statement and book agree, but the {word} does not fit its order: {more}", "账单与账簿一致，但这笔{word}与其订单不合：{more}"},
	{"statement and book agree, but the {word} does not fit its order", "账单与账簿一致，但这笔{word}与其订单不合"},

	// what the book remarks on a transaction
	{"booked as {money}, a later message says {money2} for order {text}, booked for {text2}",
		"已记账 {money}，后来的消息为 {money2}、订单 {text}，而记账的订单是 {text2}"},
	{"booked as {money}, a later message says {money2}", "已记账 {money}，后来的消息为 {money2}"},
	{"asked for {money}, refunded {money2}", "申请退款 {money}，实退 {money2}"},
	{"order {text} is not known", "订单 {text} 不存在"},
	{"order {text} is already paid by {text2} {text3}", "订单 {text} 已由 {text2} 的 {text3} 支付"},
	{"order {text} was closed before the money came, and what it is for has been ordered by others since", "订单 {text} 在到账前已关闭，所订商品已被他人订走"},
	{"order {text} was closed before the money came", "订单 {text} 在到账前已关闭"},
	{"paid {money}, the order is {money2}", "实付 {money}，订单金额 {money2}"},
	{"order {text} is {word}", "订单 {text} 的状态为{word}"},
	{"refund of {money} for a payment of {money2}", "对 {money2} 的付款退款 {money}"},
	{"refund of {money}: with those before it more than the payment of {money2}", "退款 {money}：连同之前的退款已超过付款 {money2}"},
	{"{money} refunded in all, more than the payment of {money2}", "累计退款 {money}，超过付款 {money2}"},
	{"chargeback of {money} for a payment of {money2}", "对 {money2} 的付款拒付 {money}"},
	{"the running total {money} is that of another refund", "累计金额 {money} 是另一笔退款的"},
	{"captured as {money}, and once more {money2}", "已请款 {money}，又请款 {money2}"},

	// what a run noticed
	{"{text}: a batch read by the run of {date}, left out", "{text}：此批次已由 {date} 的对账读取，略过"},
	{"{text}: the same statement as {text2}, read once", "{text}：与 {text2} 是同一份账单，只读一次"},
	{"{text}, row {n}: adjusts {text2} in another currency, {text3}; left out", "{text} 第 {n} 行：以另一币种 {text3} 调整 {text2}，略过"},
	{"{text}, row {n}: adjusts {text2}, whose own row is in another day's statement; not compared",
		"{text} 第 {n} 行：调整 {text2}，其本行在另一日的账单里；不比对"},
	{"the files given hold no {word} by their nature: {n} {word2} of the book not looked for", "所给文件按其性质不含{word}：账簿中的 {n} 笔{word2}未查找"},
	{"the files given hold no {word} by their nature: {n} {word2} of earlier runs of this day left as it is", "所给文件按其性质不含{word}：本日先前对账的 {n} 处{word2}保持原样"},
	{"the files given hold no {word} by their nature: {n} {word2} of earlier runs of this day left as they are", "所给文件按其性质不含{word}：本日先前对账的 {n} 处{word2}保持原样"},
	{"{text}: recognised as {title}, not compared ({text2})", "{text}：识别为{title}，不比对（{text2}）"},
	{"{text}: recognised as {title}, not compared", "{text}：识别为{title}，不比对"},
	{"the reports overlap: {n} {word} that another report of the day has as well, read once", "报表有重叠：{n} {word}在当日另一报表中也有，只读一次"},
	{"the totals of what is not compared ({text}) are those of all reports together", "不比对部分（{text}）的合计为全部报表之和"},
	{"{text}: kind {text2} is a word we do not know: {n} {word}, the first is row {n2}; counted as an adjustment, not compared",
		"{text}：类型 {text2} 无法识别：共 {n} {word}，首见于第 {n2} 行；计为调整，不比对"},

	// what happened to a gap
	{"{more}, by run {text}", "{more}，对账 {text}"},
	{"healed by run {text}", "已由对账 {text} 消除"},
	{"opened as {word}", "发现：{word}"},
	{"opened: the statements that it waited for do not explain it", "转为未决：所等待的账单不能解释它"},
	{"waits for a neighbouring day's statement", "等待相邻日账单"},
	{"found again, with other evidence ({text})", "再次发现，证据有变（{text}）"},
	{"found again, with other evidence", "再次发现，证据有变"},
	{"healed: not found any more", "消除：不再发现"},
	{"resolved: {text}", "解决：{text}"},
	{"reopened: {text}", "重新打开：{text}"},
	{"commented: {text}", "备注：{text}"},
	{"assigned to {text}, was {text2}'s, due on {date}", "指派给 {text}（原为 {text2}），截止 {date}"},
	{"assigned to {text}, was {text2}'s", "指派给 {text}（原为 {text2}）"},
	{"assigned to {text}, due on {date}", "指派给 {text}，截止 {date}"},
	{"assigned to {text}", "指派给 {text}"},
	{"due on {date}", "截止 {date}"},
	{"was there before the log, {word}", "在有日志之前已存在，{word}"},
}
