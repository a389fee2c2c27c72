/// A hash of ``password`` that another system has made. `Tests/ImportedHashes/make.py` makes new ones.
package struct HashOfOtherTool: Sendable {
    package static let password = "a ⟨pass phrase⟩ of mine, 여보세요"

    package let tool, text: String

    package static let all = [
        HashOfOtherTool(
            tool: "Django 5.2.19 pbkdf2_sha256",
            text: """
                pbkdf2_sha256$1000000$LJqAAMmAMrze9DVru0fKHg$NgqCM/m0OMmd9HbBdWsCqk2VYUHKk4h+j36WMwv4m+w=
                """
        ),
        HashOfOtherTool(
            tool: "Django 5.2.19 argon2",
            text: """
                argon2$argon2id$v=19$m=102400,t=2,p=8$U2xyU2d3V055SVRDdVcxRFdUOThCNw$ToK6TQT6KfZEeoosPmACwfn/iEdyL\
                TDxGe18g9+p+vM
                """
        ),
        HashOfOtherTool(
            tool: "Django 5.2.19 bcrypt_sha256",
            text: """
                bcrypt_sha256$$2b$12$juxqxlhdR4tzEtzj55V1a.NWYlTFyCpAmOIyQ2FodXAhBBS1chZI.
                """
        ),
        HashOfOtherTool(
            tool: "Django 5.2.19 bcrypt",
            text: """
                bcrypt$$2b$12$N5PlFXnQ0dFOvXakYuvOTOhON6Jo2b9BB7R6GAGhqdXzaD5JaYqju
                """
        ),
        HashOfOtherTool(
            tool: "Django 5.2.19 scrypt",
            text: """
                scrypt$16384$Xo8uDnauForIBC3OfQJ93x$8$5$N3J8uosR/owHLEsh2vnxBwNYShGNzTkUQdfJ0KfRM45BANZage3Mc1Kvf2\
                t1bh2V7eqnACTk1YkQY7lD+uTsCA==
                """
        ),
        HashOfOtherTool(
            tool: "passlib 1.7.4 pbkdf2_sha256",
            text: """
                $pbkdf2-sha256$29000$7D3n/N/7HwPgXCtlrLV2rg$mVVRE8oNtAsDZpCojWs8TZjO8x1skP2GbB7AQfaRpKA
                """
        ),
        HashOfOtherTool(
            tool: "passlib 1.7.4 pbkdf2_sha512",
            text: """
                $pbkdf2-sha512$25000$wBijFCIk5BxDSKm1VsqZsw$6CRMEjz4C6ZNYIpRMMJSRrbplVibKFbfFpy/j4.p6ornFvNq7kKLQq\
                /lkNLNWFm3sJt.by9rH.M/aboNV65E8Q
                """
        ),
        HashOfOtherTool(
            tool: "passlib 1.7.4 sha256_crypt",
            text: """
                $5$rounds=535000$DZBV08MWU5e164vg$Ul.krrmrWrF2N4UcXuZEJiPPP77Yg39wZ3w24pwVOe/
                """
        ),
        HashOfOtherTool(
            tool: "passlib 1.7.4 sha512_crypt",
            text: """
                $6$rounds=656000$uhjTjCaD35dtj4Lh$019PdLQ7MkJTQuRzyRjn4.QEaUBFyQcvB3rI59CSvppYscHYR6ysJz56sHR9aBQh\
                FLlcSy7IPcxyz0cxVv1vR0
                """
        ),
        HashOfOtherTool(tool: "passlib 1.7.4 md5_crypt", text: "$1$1FDC9Oyb$vCCuej9tp8JG9c4qxbIdU0"),
        HashOfOtherTool(
            tool: "passlib 1.7.4 scrypt",
            text: """
                $scrypt$ln=14,r=8,p=1$HKOUMoawNiakdK4VonSOkQ$UhHNruVKiesUZrz4UhN7t9gN/iCURlqRHjNyCYGlsn4
                """
        ),
        HashOfOtherTool(
            tool: "Werkzeug 3.1.9 pbkdf2:sha256",
            text: """
                pbkdf2:sha256:1000000$h3JXghjLdHR0dJGQ$80b5f560c4953f7c189a6715e62fc4ae3d3a677b2768e81be5ce409cd84\
                118bb
                """
        ),
        HashOfOtherTool(
            tool: "Werkzeug 3.1.9 scrypt",
            text: """
                scrypt:32768:8:1$1T32Y1ELqmSVQUge$c8d0c46526ae3e68700f1664cda61a5069f269712a24bf0ece063d216994310a\
                4d0363fb5439553f8b86400da86dbd4841a84ba2ad02a3c317565c1b3dd8b9dd
                """
        ),
        HashOfOtherTool(
            tool: "argon2-cffi 25.1.0 D",
            text: """
                $argon2d$v=19$m=65536,t=3,p=4$cFBfkw2+M0VHzU4RByRRVA$OBitrbArEUXZf+jtQK35szUoKNsjyJqq1FMmQG3hBhU
                """
        ),
        HashOfOtherTool(
            tool: "argon2-cffi 25.1.0 I",
            text: """
                $argon2i$v=19$m=65536,t=3,p=4$U/kAGwP92LEt81SdSRLcSA$24/Y9eEWKqvbLVIZ9BMWuptoUJ9WXgwbgHhvfwLLvW8
                """
        ),
        HashOfOtherTool(
            tool: "argon2-cffi 25.1.0 ID",
            text: """
                $argon2id$v=19$m=65536,t=3,p=4$J2mc00ohUklLTGjJ+gGaFw$rUwdkkK4UhmvDLtSHHau12lERdAiUT7/4GKqr/vPe2A
                """
        ),
        HashOfOtherTool(tool: "bcrypt 4.0.1", text: "$2b$10$zK5mU6/w8XfanoK7UxoHoOKYZFap3QSiSP3s3yHsKzyxuUK0D9Feu"),
        HashOfOtherTool(tool: "htpasswd -B", text: "$2y$10$rDFw4KNBoQxyOedeYKZUbO2kf/1GdkT7EWvyzF2qLfulewu6BbVx6"),
        HashOfOtherTool(
            tool: "PHP PASSWORD_BCRYPT",
            text: """
                $2y$10$jkFZZObYWlxsf4nZqPNRyu3Aa.pdj/WvZGM1iAQ.1WW9MX4k8aEEe
                """
        ),
        HashOfOtherTool(
            tool: "PHP PASSWORD_ARGON2I",
            text: """
                $argon2i$v=19$m=65536,t=4,p=1$aklTc3hoWWZVckF2WDM1dA$8iBX7Xn6LpXnggigZW70qLNr5ZBI4djXpAc58jGuhao
                """
        ),
        HashOfOtherTool(
            tool: "PHP PASSWORD_ARGON2ID",
            text: """
                $argon2id$v=19$m=65536,t=4,p=1$SXpzMlMzZlZtLjhhYWtPTA$zEqWVTK/Vhy3kia+4VTHA0GItH8ED1XPNCUTpx6dkeA
                """
        ),
        HashOfOtherTool(
            tool: "shadow file, mkpasswd yescrypt",
            text: """
                $y$j9T$rs.DWfbGJ9zUXBAq/7k3b/$6gKRJEjDTz9Ky1xLtjZ/ynqcwXhDYzALWsWUuXYihr8
                """
        ),
        HashOfOtherTool(
            tool: "shadow file, mkpasswd sha512crypt",
            text: """
                $6$nRpUE27lW3UrImWE$G5b2.PHcbgzeuSBWt6K/T/.bLZV6nKQaRrYDbmwV7bTrP6Tq.liWvL0Pr4erQVmhNcSO6oTvdv4rhH\
                x.PO4.q/
                """
        ),
        HashOfOtherTool(
            tool: "shadow file, mkpasswd sha256crypt",
            text: """
                $5$8bqc6dcEJibOGvu.$iMVneYREKaInUyy7l9GHTXxVGDikLhjKhxj6LzjJSr4
                """
        ),
        HashOfOtherTool(
            tool: "shadow file, mkpasswd bcrypt",
            text: """
                $2b$05$f/UELHl5XkxHPtse1qz0YuV/ITUtFW/fm1vwh1Rozp3ARCGiralJu
                """
        ),
        HashOfOtherTool(
            tool: "shadow file, openssl passwd -6",
            text: """
                $6$lN8A7OMjTAJjtkq4$cRHaysNMwCeLGq7tDDkMAobw0R3S7B/c8Lk4mOfuIiEbKKU1Njcg/cW91b.VLXiVw7dJBTHo/KmACg\
                Dw0rhL01
                """
        ),
    ]
}
