package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"paybook/reconcile"
)

// S3 is a bucket of storage that speaks S3's protocol.
type S3 struct {
	Endpoint  string // HOST[:PORT]
	Insecure  bool   // plain http, for this machine or a private network
	Region    string // "": us-east-1
	Bucket    string
	PathStyle bool // https://HOST/BUCKET/…, where storage has no name of its own for each bucket
	AccessKey string
	SecretKey string
	Token     string   // of a session; "": none
	Files     []string // patterns of whole keys (path.Match, with {date}, {yyyymmdd} and {yymmdd})
	// Transport must reach nothing but the endpoint.
	Transport http.RoundTripper
}

const (
	s3Tries    = 3
	s3ListMost = 100_000 // keys looked at for one pattern
)

// String implements Remote.
func (c *S3) String() string { return "s3 " + c.Endpoint + "/" + c.Bucket }

// Hosts are the hosts that the bucket may be asked at, for the guard.
func (c *S3) Hosts() []string {
	if c.PathStyle {
		return []string{c.Endpoint}
	}
	return []string{c.Endpoint, c.Bucket + "." + c.Endpoint}
}

// Check implements Remote: the bucket answers, and lets us list it.
func (c *S3) Check(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for object := range client.ListObjects(ctx, c.Bucket, minio.ListObjectsOptions{Prefix: fixed(c.Files[0]), Recursive: true, MaxKeys: 1}) {
		return s3Error(object.Err)
	}
	return nil
}

// Fetch implements Remote.
func (c *S3) Fetch(ctx context.Context, day reconcile.Day, _ time.Time, save Save) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	objects, err := c.list(ctx, client, fill(c.Files, day))
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := save(c.file(ctx, client, object)); err != nil {
			return err
		}
	}
	if len(objects) == 0 {
		return notReady("no object %s", strings.Join(fill(c.Files, day), ", "))
	}
	return nil
}

func (c *S3) client() (*minio.Client, error) {
	style, region := minio.BucketLookupDNS, c.Region
	if c.PathStyle {
		style = minio.BucketLookupPath
	}
	if region == "" {
		region = "us-east-1"
	}
	client, err := minio.New(c.Endpoint, &minio.Options{
		Creds: credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.Token), Secure: !c.Insecure, Region: region, BucketLookup: style,
		Transport: c.Transport, MaxRetries: s3Tries,
	})
	return client, s3Error(err)
}

// list finds the objects, by key.
func (c *S3) list(ctx context.Context, client *minio.Client, patterns []string) ([]minio.ObjectInfo, error) {
	ctx, stop := context.WithCancel(ctx) // ends what is still being listed
	defer stop()
	found := map[string]minio.ObjectInfo{}
	for _, pattern := range patterns {
		seen := 0
		for object := range client.ListObjects(ctx, c.Bucket, minio.ListObjectsOptions{Prefix: fixed(pattern), Recursive: true}) {
			if object.Err != nil {
				return nil, s3Error(object.Err)
			}
			if seen++; seen > s3ListMost {
				return nil, fmt.Errorf("more than %d objects begin with %q; make the pattern's beginning longer", s3ListMost, fixed(pattern))
			}
			if matches([]string{pattern}, object.Key) && !strings.HasSuffix(object.Key, "/") {
				found[object.Key] = object
			}
		}
	}
	objects := make([]minio.ObjectInfo, 0, len(found))
	for _, object := range found {
		objects = append(objects, object)
	}
	slices.SortFunc(objects, func(a, b minio.ObjectInfo) int { return strings.Compare(a.Key, b.Key) })
	return objects, nil
}

// file is one object: the very version that was listed, or an error.
func (c *S3) file(ctx context.Context, client *minio.Client, listed minio.ObjectInfo) File {
	return File{Name: path.Base(listed.Key), Mark: listed.ETag, Open: func() (io.ReadCloser, error) {
		var o minio.GetObjectOptions
		if listed.ETag != "" {
			if err := o.SetMatchETag(listed.ETag); err != nil {
				return nil, fmt.Errorf("%s: %w", listed.Key, err)
			}
		}
		object, _, _, err := (&minio.Core{Client: client}).GetObject(ctx, c.Bucket, listed.Key, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", listed.Key, s3Error(err))
		}
		return &wholeFile{ReadCloser: object, name: listed.Key, want: listed.Size}, nil
	}}
}

// s3Error says what a storage's answer means here. Its message is the storage's own text.
func s3Error(err error) error {
	var answer minio.ErrorResponse
	if err == nil || !errors.As(err, &answer) || answer.Code == "" {
		return err
	}
	next := ""
	switch answer.Code {
	case minio.AccessDenied, minio.InvalidAccessKeyID, minio.SignatureDoesNotMatch:
		next = ": correct fetch.access_key and fetch.secret_key, or let them list and read the bucket"
	case minio.NoSuchBucket:
		next = ": correct fetch.bucket or fetch.region"
	case minio.PreconditionFailed, minio.NoSuchKey:
		return notReady("the object is being replaced")
	}
	return fmt.Errorf("the storage says %s%s", answer.Code, next)
}
