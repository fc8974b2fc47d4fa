using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Esb.Host.Management;
using Esb.Host.Management.Sessions;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Host.Management;

/// <summary>Sessions of browsers: signing in and out, what a cookie may do, and names of the host that are not its own.</summary>
[CancelAfter(60_000)]
public sealed class SessionApiTests : ManagementFixture
{
    private HttpClient _browser = null!;

    [SetUp]
    public void Open() =>
        _browser = new HttpClient(new HttpClientHandler { UseCookies = true, CookieContainer = new CookieContainer() })
        {
            BaseAddress = Host.Server.Address,
        };

    [TearDown]
    public void Close() => _browser.Dispose();

    [Test]
    public async Task Key_opens_a_session_whose_cookie_scripts_and_other_sites_cannot_use(CancellationToken cancellationToken)
    {
        using var answer = await _browser.PostAsJsonAsync("/api/session", new { key = Host.Key }, cancellationToken);

        var cookie = answer.Headers.GetValues("Set-Cookie").Single();
        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Created));
        Assert.That(cookie, Does.StartWith("esb-session=").And.Contain("samesite=strict").IgnoreCase.And.Contain("httponly").IgnoreCase);
        Assert.That(cookie, Does.Not.Contain(Host.Key));
        var session = await _browser.GetFromJsonAsync<JsonObject>("/api/session", cancellationToken);
        Assert.That((string?)session!["role"], Is.EqualTo("administrator"));
        Assert.That((string?)session["csrf"], Is.Not.Empty);
    }

    [Test, Property("Case", "API-12")]
    public async Task Change_with_the_cookie_needs_the_text_of_the_session_and_our_own_page(CancellationToken cancellationToken)
    {
        var csrf = await SignInAsync(cancellationToken);

        Assert.That(await CodeOfAsync("/api/dead-letters/discard", null, null, cancellationToken), Is.EqualTo("ESB-API-CSRF"));
        Assert.That(await CodeOfAsync("/api/dead-letters/discard", "guessed", null, cancellationToken), Is.EqualTo("ESB-API-CSRF"));
        Assert.That(
            await CodeOfAsync("/api/dead-letters/discard", csrf, "http://evil.example", cancellationToken),
            Is.EqualTo("ESB-API-CSRF")
        );
        Assert.That(
            await CodeOfAsync("/api/dead-letters/discard", csrf, null, cancellationToken),
            Is.EqualTo("ESB-API-PARAMETER"),
            "it is let through, and refused for its own body"
        );
    }

    [Test]
    public async Task Signing_out_ends_the_session_on_the_host(CancellationToken cancellationToken)
    {
        var csrf = await SignInAsync(cancellationToken);
        using var before = await _browser.GetAsync("/api/endpoints", cancellationToken);
        using var out1 = new HttpRequestMessage(HttpMethod.Delete, "/api/session") { Headers = { { "X-Esb-Csrf", csrf } } };
        using var ended = await _browser.SendAsync(out1, cancellationToken);
        using var after = await _browser.GetAsync("/api/endpoints", cancellationToken);

        Assert.That(
            (before.StatusCode, ended.StatusCode, after.StatusCode),
            Is.EqualTo((HttpStatusCode.OK, HttpStatusCode.NoContent, HttpStatusCode.Unauthorized))
        );
    }

    [TestCase("{\"key\":\"wrong\"}", HttpStatusCode.Unauthorized, "ESB-API-KEY")]
    [TestCase("{}", HttpStatusCode.BadRequest, "ESB-API-PARAMETER")]
    [TestCase("{\"key\":\"k\",\"role\":\"administrator\"}", HttpStatusCode.BadRequest, "ESB-API-BODY", Description = "API-07")]
    public async Task Bad_sign_in_is_refused(string body, HttpStatusCode status, string code, CancellationToken cancellationToken)
    {
        using var answer = await _browser.PostAsync(
            "/api/session",
            new StringContent(body, System.Text.Encoding.UTF8, "application/json"),
            cancellationToken
        );

        Assert.That(answer.StatusCode, Is.EqualTo(status));
        Assert.That(await Problem.ReadCodeAsync(answer, cancellationToken), Is.EqualTo(code));
    }

    [Test, Property("Case", "API-16")]
    public async Task Key_of_a_megabyte_is_refused_unread(CancellationToken cancellationToken)
    {
        using var answer = await _browser.PostAsJsonAsync("/api/session", new { key = new string('k', 1024 * 1024) }, cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.RequestEntityTooLarge));
    }

    [Test, Property("Case", "API-15")]
    public async Task Guessing_at_the_sign_in_is_slowed(CancellationToken cancellationToken)
    {
        var codes = new List<HttpStatusCode>();
        for (var guess = 0; guess < 40; guess++)
            codes.Add((await _browser.PostAsJsonAsync("/api/session", new { key = $"guess {guess}" }, cancellationToken)).StatusCode);

        Assert.That(codes[..20], Is.All.EqualTo(HttpStatusCode.Unauthorized));
        Assert.That(codes, Does.Contain(HttpStatusCode.TooManyRequests));
    }

    [TestCase("evil.example", "/api/endpoints", false, HttpStatusCode.MisdirectedRequest)]
    [TestCase("evil.example", "/api/session", false, HttpStatusCode.MisdirectedRequest)]
    [TestCase("evil.example", "/api/endpoints", true, HttpStatusCode.OK, Description = "a page of another site knows no key")]
    [TestCase("evil.example", "/health/live", false, HttpStatusCode.OK)]
    [TestCase("localhost", "/api/endpoints", true, HttpStatusCode.OK)]
    public async Task Foreign_name_of_the_host_is_refused(
        string name,
        string path,
        bool hasKey,
        HttpStatusCode expected,
        CancellationToken cancellationToken
    )
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path) { Headers = { Host = name } };
        using var answer = await (hasKey ? Client : _browser).SendAsync(request, cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(expected));
    }

    [Test]
    public void Session_ends_after_half_an_hour_idle_after_eight_hours_and_with_its_key()
    {
        var time = new ManualTime();
        var key = "the key of somebody, 32 characters long";
        var config = new ManagementConfig
        {
            Keys = new Dictionary<string, ManagementKeyConfig>
            {
                ["one"] = new() { Role = ManagementRole.Viewer, Key = [key] },
            },
        };
        var sessions = new ManagementSessions(new ManagementKeys(() => config, "unused", time, NullLogger.Instance), time);
        var idle = sessions.Begin(key);
        var busy = sessions.Begin(key);

        var seen = new List<(bool Idle, bool Busy)>();
        for (var minutes = 20; minutes <= 8 * 60; minutes += 20)
        {
            time.Advance(TimeSpan.FromMinutes(20));
            if (sessions.Find(busy.Token) is { } found)
                sessions.Use(found.Session);
            seen.Add((sessions.Find(idle.Token) is not null, sessions.Find(busy.Token) is not null));
        }

        Assert.That(seen[0], Is.EqualTo((true, true)));
        Assert.That(seen[1], Is.EqualTo((false, true)));
        Assert.That(seen[^2].Busy, Is.True);
        Assert.That(seen[^1].Busy, Is.False);
        var last = sessions.Begin(key);
        config = new ManagementConfig
        {
            Keys = new Dictionary<string, ManagementKeyConfig>
            {
                ["other"] = new() { Role = ManagementRole.Viewer, Key = ["another key, which is as long as that"] },
            },
        };
        Assert.That(sessions.Find(last.Token), Is.Null, "the key is gone");
    }

    private async Task<string> SignInAsync(CancellationToken cancellationToken)
    {
        using var answer = await _browser.PostAsJsonAsync("/api/session", new { key = Host.Key }, cancellationToken);
        return (string)(await answer.Content.ReadFromJsonAsync<JsonObject>(cancellationToken))!["csrf"]!;
    }

    private async Task<string?> CodeOfAsync(string path, string? csrf, string? origin, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, path) { Content = JsonContent.Create(new { }) };
        if (csrf is not null)
            request.Headers.Add("X-Esb-Csrf", csrf);
        if (origin is not null)
            request.Headers.Add("Origin", origin);
        using var answer = await _browser.SendAsync(request, cancellationToken);
        return await Problem.ReadCodeAsync(answer, cancellationToken);
    }
}
