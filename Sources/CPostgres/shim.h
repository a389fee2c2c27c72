#include <libpq-fe.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Swift does not import macros whose value is a character. These constants have the values of such macros.
static const int diagnosis_sqlstate = PG_DIAG_SQLSTATE;
static const int diagnosis_message = PG_DIAG_MESSAGE_PRIMARY;
static const int diagnosis_constraint = PG_DIAG_CONSTRAINT_NAME;
static const int diagnosis_detail = PG_DIAG_MESSAGE_DETAIL;
static const int diagnosis_position = PG_DIAG_STATEMENT_POSITION;
