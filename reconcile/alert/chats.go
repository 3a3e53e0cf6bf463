package alert

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// How long a message may be, in bytes, below what the services say.
const (
	feishuMax   = 16_000 // a request of 20 KB
	dingTalkMax = 16_000 // 20,000 bytes
	weComMax    = 2048   // of text
	slackMax    = 3_900  // 4,000 characters are shown without a fold
)

// Feishu is a custom bot of Feishu (Lark): its webhook's address, and its secret when signing is on.
type Feishu struct {
	URL, Secret string
	Client      *http.Client
	Now         func() time.Time
}

// Alert implements Sink.
func (s *Feishu) Alert(ctx context.Context, a Alert) error {
	message := map[string]any{"msg_type": "text", "content": map[string]string{"text": a.Text(feishuMax, noTags)}}
	if s.Secret != "" {
		at := strconv.FormatInt(s.Now().Unix(), 10)
		message["timestamp"], message["sign"] = at, sign(at+"\n"+s.Secret, "") // the text to sign is the key, and what is signed is empty
	}
	return postChat(ctx, s.Client, s.URL, message, "code", "StatusCode")
}

// DingTalk is a custom bot of DingTalk: its webhook's address, and its secret when signing is on.
type DingTalk struct {
	URL, Secret string
	Client      *http.Client
	Now         func() time.Time
}

// Alert implements Sink.
func (s *DingTalk) Alert(ctx context.Context, a Alert) error {
	address := s.URL
	if s.Secret != "" {
		u, err := url.Parse(s.URL)
		if err != nil {
			return errors.New("the sink's address is none")
		}
		at := strconv.FormatInt(s.Now().UnixMilli(), 10)
		q := u.Query()
		q.Set("timestamp", at)
		q.Set("sign", sign(s.Secret, at+"\n"+s.Secret))
		u.RawQuery = q.Encode()
		address = u.String()
	}
	message := map[string]any{"msgtype": "text", "text": map[string]string{"content": a.Text(dingTalkMax, noMention)}, "at": map[string]any{"isAtAll": false}}
	return postChat(ctx, s.Client, address, message, "errcode")
}

// noMention keeps a stranger's @ from calling anybody.
func noMention(text string) string { return strings.ReplaceAll(text, "@", "＠") }

// WeCom is a group bot of WeCom (WeChat Work). Its key lies in the address; there is no signing.
type WeCom struct {
	URL    string
	Client *http.Client
}

// Alert implements Sink.
func (s *WeCom) Alert(ctx context.Context, a Alert) error {
	message := map[string]any{"msgtype": "text", "text": map[string]string{"content": a.Text(weComMax, noTags)}}
	return postChat(ctx, s.Client, s.URL, message, "errcode")
}

// Slack is an incoming webhook of Slack. Its key lies in the address.
type Slack struct {
	URL    string
	Client *http.Client
}

// slackEscape are the three characters that mean something there: <!channel> is text then.
var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Alert implements Sink.
func (s *Slack) Alert(ctx context.Context, a Alert) error {
	body, err := jsonOf(map[string]any{"text": a.Text(slackMax, slackEscape.Replace), "unfurl_links": false, "unfurl_media": false})
	if err != nil {
		return err
	}
	answer, err := post(ctx, s.Client, s.URL, nil, body)
	if err == nil && strings.TrimSpace(string(answer)) != "ok" {
		err = errors.New("the service answers something else than ok: is this the address of an incoming webhook?")
	}
	return err
}

// sign is HMAC-SHA256 in base64.
func sign(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
