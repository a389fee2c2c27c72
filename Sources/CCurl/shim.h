#include <curl/curl.h>

// Swift does not import variadic functions such as `curl_easy_setopt` and `curl_easy_getinfo`. Each function below that
// begins with `curl_set` or `curl_get` wraps one of them for one type of value.

static inline CURLcode curl_set_long(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode curl_set_string(CURL *curl, CURLoption option, const char *value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode curl_set_list(CURL *curl, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode curl_set_reader(CURL *curl, curl_read_callback reader, void *source) {
    CURLcode status = curl_easy_setopt(curl, CURLOPT_READFUNCTION, reader);
    return status == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_READDATA, source) : status;
}

static inline CURLcode curl_get_long(CURL *curl, CURLINFO info, long *value) {
    return curl_easy_getinfo(curl, info, value);
}

static inline CURLcode curl_begin(void) {
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}

/// Sets the body of a POST request. libcurl does not copy the bytes, so they must stay valid until the transfer ends.
static inline CURLcode curl_set_body(CURL *curl, const void *bytes, size_t count) {
    CURLcode status = curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) count);
    return status == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_POSTFIELDS, bytes) : status;
}

static inline CURLcode curl_set_writer(CURL *curl, curl_write_callback writer, void *target) {
    CURLcode status = curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, writer);
    return status == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_WRITEDATA, target) : status;
}

/// The writer gets each header line of an HTTP response, or each reply line of an SMTP server.
static inline CURLcode curl_set_header_writer(CURL *curl, curl_write_callback writer, void *target) {
    CURLcode status = curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, writer);
    return status == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_HEADERDATA, target) : status;
}

static inline CURLcode curl_set_opener(CURL *curl, curl_opensocket_callback opener, void *target) {
    CURLcode status = curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, opener);
    return status == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, target) : status;
}

static inline CURLcode curl_get_offset(CURL *curl, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(curl, info, value);
}
