package unionpay

// column is one field of a record: its name in UnionPay's specification and its width in bytes.
type column struct {
	name  string
	width int
}

// layout is the order of a record's columns, from the specification's tables as copied into public code. Records are written with
// one space between two columns. A record of any other length is refused: one without the spaces, as one public reader expects it, has
// never been seen, and its columns would be guessed.
type layout struct {
	title   string
	columns []column
	places  map[string]int // of each column
	length  int            // of a record without its line end, bytes
}

func newLayout(title string, columns []column) *layout {
	l := &layout{title, columns, map[string]int{}, len(columns) - 1}
	for i, c := range columns {
		l.places[c.name], l.length = i, l.length+c.width
	}
	return l
}

// zm is a record of the transaction file.
var zm = newLayout("transaction file (ZM)", []column{
	{"交易代码", 3}, {"代理机构标识码", 11}, {"发送机构标识码", 11}, {"系统跟踪号", 6}, {"交易传输时间", 10}, {"账号", 19}, {"交易金额", 12}, {"商户类别", 4},
	{"终端类型", 2}, {"查询流水号", 21}, {"支付方式（旧）", 2}, {"商户订单号", 32}, {"支付卡类型", 2}, {"原始交易的系统跟踪号", 6}, {"原始交易日期时间", 10},
	{"商户手续费", 13}, {"结算金额", 13}, {"支付方式", 4}, {"集团商户代码", 15}, {"交易类型", 2}, {"交易子类", 2}, {"业务类型", 6}, {"账号类型", 2}, {"账单类型", 4},
	{"账单号码", 32}, {"交互方式", 1}, {"原交易查询流水号", 21}, {"商户代码", 15}, {"分账入账方式", 1}, {"二级商户代码", 15}, {"二级商户简称", 32},
	{"二级商户分账入账金额", 13}, {"清算净额", 13}, {"终端号", 8}, {"商户自定义域", 32}, {"优惠金额", 13}, {"发票金额", 13}, {"分期付款附加手续费", 12},
	{"分期付款期数", 2}, {"交易介质", 1}, {"原商户订单号", 32}, {"清算金额", 13}, {"服务点输入方式", 2}, {"移动支付产品标志", 1}, {"检索参考号", 12},
	{"营销活动标识", 20}, {"保留", 45},
})

// zme is a record of the file of corrections. It names a payment by its trace number and time only.
var zme = newLayout("file of corrections (ZME)", []column{
	{"交易代码", 3}, {"代理机构标识码", 11}, {"发送机构标识码", 11}, {"系统跟踪号", 6}, {"交易传输时间", 10}, {"账号", 19}, {"交易金额", 12}, {"商户类别", 4},
	{"终端类型", 2}, {"支付卡类型", 2}, {"原始交易的系统跟踪号", 6}, {"原始交易日期时间", 10}, {"原始交易清算日期", 4}, {"原始交易金额", 12}, {"商户手续费", 13},
	{"结算金额", 13}, {"集团商户代码", 15}, {"商户代码", 15}, {"分账入账方式", 1}, {"分期付款附加手续费", 12}, {"分期付款期数", 2}, {"保留", 135},
})

var layouts = []*layout{zm, zme}

// place is where a column stands. The names are ours, so one that is not there is a mistake of ours.
func (l *layout) place(name string) int {
	i, ok := l.places[name]
	if !ok {
		panic("no column " + name + " in a " + l.title)
	}
	return i
}
