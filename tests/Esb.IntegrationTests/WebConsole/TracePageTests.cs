using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Microsoft.Playwright;

namespace Esb.IntegrationTests.WebConsole;

/// <summary>A trace in the console: begun at an endpoint, and a message painted on the process that it ran.</summary>
[TestFixture(false)]
[TestFixture(true, Category = "Thorough")]
[FixtureLifeCycle(LifeCycle.InstancePerTestCase), CancelAfter(300_000)]
public sealed class TracePageTests(bool hasServers) : ShopHost
{
    private readonly ConsoleServers _servers = new(hasServers);
    private ConsoleBrowser _browser = null!;

    private protected override string Sections =>
        _servers.Sections
        + """
            "audit": { "masks": [{ "jsonpath": "$.card" }] },
            "processes": { "check": [
              { "id": "which", "choose": {
                "when": [{
                  "if": { "jsonpath": "$.customer", "equals": "vip" },
                  "steps": [{ "id": "prefer", "set": { "properties": { "vip": true } } }] }],
                "otherwise": [{ "id": "mark",
                  "set": { "body": { "template": "{{\"state\":\"seen\"}}" }, "contentType": "application/json" } }] } },
              { "id": "pass-on", "publish": "orders.checked" } ] },
            """;

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    private protected override string Endpoints =>
        """
            , "checked": { "type": "http-inbound", "path": "/checked", "process": "check" }
            , "recorded": { "type": "http-inbound", "path": "/recorded", "process": "check", "audit": { "steps": true } }
            """;

    private IPage Page => _browser.Page;

    [SetUp]
    public async Task Open()
    {
        _browser = await ConsoleBrowser.OpenAsync(Host);
        await _browser.SignInAsync(Host);
    }

    [TearDown]
    public async Task Close() => await _browser.DisposeAsync();

    [Test]
    public async Task Message_is_painted_on_its_process_with_what_each_step_changed(CancellationToken cancellationToken)
    {
        await _browser.GoAsync("endpoints/checked", "checked");
        await Button("Trace…").ClickAsync();
        await Page.GetByLabel("Reason").FillAsync("orders look odd");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Trace");
        await Page.GetByText("No message has passed yet").WaitForAsync();
        var message = await CheckAsync("""{ "order": "o-1", "customer": "c-1", "card": "4111222233334444" }""", cancellationToken);
        var passes = Page.GetByRole(AriaRole.Region, new() { Name = "Traced messages" }).Locator("tbody tr");
        await passes.First.WaitForAsync();
        var barriers = (await _browser.FindBarriersAsync()).ToList();
        await passes.First.ClickAsync();

        await Page.GetByRole(AriaRole.Heading, new() { Name = "Traced message", Level = 1 }).WaitForAsync();
        await Page.GetByText("branch 2, taken").WaitForAsync();
        await Page.GetByText("branch 1, not taken").WaitForAsync();
        await Step("set", "prefer").GetByText("did not run").WaitForAsync();
        await Step("set", "mark").ClickAsync();
        await Page.Locator(".diff .added").GetByText("seen").WaitForAsync();
        await Page.Locator(".diff .removed").GetByText("o-1").First.WaitForAsync();
        var shown = await Page.Locator("main").InnerTextAsync();
        barriers.AddRange(await _browser.FindBarriersAsync());
        await Page.GetByRole(AriaRole.Link, new() { Name = "Journey" }).ClickAsync();
        await Page.GetByRole(AriaRole.Tab, new() { Name = "Process steps" }).ClickAsync();
        await Page.GetByText("branch 2, taken").WaitForAsync();

        Assert.That(Page.Url, Does.EndWith($"#/messages/{message}"));
        Assert.That(shown, Does.Not.Contain("4111222233334444"));
        Assert.That(barriers, Is.Empty);
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [TestCase("recorded", "branch 2, taken", "did not run")]
    [TestCase("checked", "branch 2", "not recorded", Category = "Thorough")]
    public async Task Message_is_painted_on_its_process_by_what_the_audit_recorded_and_says_what_it_did_not(
        string endpoint,
        string taken,
        string otherwise,
        CancellationToken cancellationToken
    )
    {
        var message = await CheckAsync("""{ "order": "o-1", "customer": "c-1" }""", cancellationToken, $"/{endpoint}");
        await Host.WaitAsync(
            async token => (await Host.FindAsync($"/api/messages/{message}", token))?.GetProperty("facts").GetInt32() > 2,
            TimeSpan.FromSeconds(60),
            "to record the message",
            cancellationToken
        );
        await _browser.GoAsync($"messages/{message}", "Message");
        await Page.GetByRole(AriaRole.Tab, new() { Name = "Process steps" }).ClickAsync();

        await Page.GetByText(taken).First.WaitForAsync();
        await Step("set", "prefer").GetByText(otherwise).WaitForAsync();
        await Step("publish", "pass-on").ClickAsync();
        await Page.GetByText("Recorded by the audit").WaitForAsync();
        var barriers = await _browser.FindBarriersAsync();

        Assert.That(barriers, Is.Empty);
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test]
    public async Task Trace_is_ended_on_the_page(CancellationToken cancellationToken)
    {
        await PostAsync("/api/traces", """{ "endpoint": "checked", "for": "10m" }""", cancellationToken);
        await _browser.GoAsync("endpoints/checked", "checked");

        await Page.Locator("[data-action=\"End the trace\"]").WaitForAsync();
        await _browser.ActAsync(Page.Locator("main"), "End the trace");

        await Page.Locator("main h2 .state").GetByText("stopped").WaitForAsync();
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test, Explicit("makes the pictures of docs/guides/console.md")]
    public async Task Pictures_of_the_guide(CancellationToken cancellationToken)
    {
        var id = (await PostAsync("/api/traces", """{ "endpoint": "checked" }""", cancellationToken)).GetProperty("id").GetString();
        await CheckAsync("""{ "order": "o-1", "customer": "c-1", "card": "4111222233334444" }""", cancellationToken);
        var trace = await Host.AskAsync($"/api/traces/{id}", cancellationToken);
        await _browser.GoAsync($"messages/trace/{id}/{trace.GetProperty("messages")[0].GetProperty("id").GetString()}", "Traced message");
        await Step("set", "mark").ClickAsync();
        await Page.Locator(".diff .added").GetByText("seen").WaitForAsync();

        await Page.ScreenshotAsync(
            new PageScreenshotOptions
            {
                Path = Repository.PathOf("docs", "images", "console-trace.png"),
                Animations = ScreenshotAnimations.Disabled,
            }
        );
    }

    private async Task<Guid> CheckAsync(string body, CancellationToken cancellationToken, string path = "/checked")
    {
        using var answer = await Host.PostAsync(path, body, "application/json", cancellationToken);
        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), Host.Output);
        return Guid.Parse(answer.Headers.GetValues("Esb-Message-Id").Single());
    }

    private ILocator Step(string kind, string place) =>
        Page.Locator(".painted button.step")
            .Filter(new() { Has = Page.GetByText(place, new() { Exact = true }) })
            .Filter(new() { HasText = kind });

    private ILocator Button(string name) => Page.Locator("main").GetByRole(AriaRole.Button, new() { Name = name, Exact = true }).First;
}
