"""Apache with mod_auth_openidc, configured as in docs/openid.md."""

from running import wait_until
from visitor import parameters


def shown(response):
    """Returns the text of the page, and the data about the person in the headers that `apache.py` adds."""
    assert response.status_code == 200
    names = ["X-User", "X-Email", "X-Username", "X-Created"]
    return response.text, [response.headers[name] for name in names]


def test_a_person_signs_up_by_a_link_of_the_wiki(wiki, member):
    kim = member
    page, (user, email, username, created) = shown(kim.open(f"{wiki.url}/sign-up"))
    assert (page, email, username) == ("sign-up", kim.email, kim.username)
    assert user == kim.send("GET", "/account")["account"]["id"]
    assert created == "1"
    wait_until(lambda: any(line.get("route") == "/oauth/userinfo" for line in kim.site.log))


def test_a_person_who_is_signed_in_opens_the_wiki_without_a_question(wiki, visitor):
    visitor.sign_up()
    callback = visitor.redirect(visitor.redirect(f"{wiki.url}/index"))
    assert parameters(callback)["iss"] == visitor.site.url
    visitor.redirect(callback)
    page, (_, email, _, created) = shown(visitor.open(f"{wiki.url}/index"))
    assert (page, email, created) == ("index", visitor.email, "(null)")


def test_a_sign_out_at_the_wiki_ends_the_session_of_the_service(wiki, member):
    kim = member
    target = f"{wiki.url}/signed-out"
    end = kim.redirect(f"{wiki.url}/callback?logout={target}")
    assert end.startswith(f"{kim.site.url}/oauth/logout?") and parameters(end)["id_token_hint"]
    assert kim.redirect(end) == target
    assert kim.open(target).text == "signed-out"
    assert kim.http.get(kim.site.url + "/session").status_code == 401
    assert kim.redirect(f"{wiki.url}/index").startswith(f"{kim.site.url}/oauth/authorize?")
