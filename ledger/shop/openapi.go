package shop

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
)

// OpenAPI describes the shop's routes as OpenAPI 3.1. Every answer of every test is held against it.
//
//go:embed openapi.json
var OpenAPI []byte

// describe is GET /openapi.json. It tells nothing that the documents do not, so it needs no key.
func describe(c echo.Context) error {
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, OpenAPI)
}
