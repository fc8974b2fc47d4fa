using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Microsoft.Playwright;

namespace Esb.IntegrationTests.WebConsole;

/// <summary>The page of workflows: instances as they change, one instance, and what operators do.</summary>
[TestFixture(false)]
[TestFixture(true, Category = "Thorough")]
[FixtureLifeCycle(LifeCycle.InstancePerTestCase), CancelAfter(300_000)]
public sealed class WorkflowPageTests(bool hasServers) : ShopHost
{
    private readonly ConsoleServers _servers = new(hasServers);
    private ConsoleBrowser _browser = null!;

    private protected override string Sections =>
        _servers.Sections
        + """
            "name": "shop",
            "workflows": {
              "fulfil": {
                "start": "orders.new",
                "correlate": { "order": { "jsonpath": "$.order" } },
                "retry": { "immediate": 0, "delays": [] },
                "steps": [
                  { "set": { "variables": { "customer": { "jsonpath": "$.customer" } } } },
                  { "id": "charge", "call": "bank" },
                  { "id": "pick", "receive": {
                    "subscribe": "orders.picked", "match": { "order": { "jsonpath": "$.order" } }, "timeout": "2h" } },
                  { "id": "ship", "publish": "orders.shipped" }
                ]
              }
            },
            """;

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    private protected override string Endpoints =>
        $$"""
            , "bank": { "type": "http-outbound", "url": "{{Shop.Url}}bank" }
            , "scanner": { "type": "http-inbound", "path": "/picked", "publish": "orders.picked" }
            """;

    private IPage Page => _browser.Page;

    private ILocator Instances => Page.GetByRole(AriaRole.Region, new() { Name = "Instances", Exact = true }).Locator("tbody tr");

    [SetUp]
    public async Task Open()
    {
        _browser = await ConsoleBrowser.OpenAsync(Host);
        await _browser.SignInAsync(Host);
        await _browser.GoAsync("workflows", "Workflows");
    }

    [TearDown]
    public async Task Close() => await _browser.DisposeAsync();

    [Test, Category("Thorough")]
    public async Task Suspended_instance_appears_at_once_is_retried_and_followed_to_its_end(CancellationToken cancellationToken)
    {
        await Page.GetByText("No instance has started yet").WaitForAsync();
        Shop.Refuses = body => body.Contains("\"bad\"", StringComparison.Ordinal);
        await OrderAsync("""{ "order": "o-1", "customer": "bad" }""", cancellationToken);
        await Instances.Filter(new() { HasText = "suspended" }).First.WaitForAsync();
        await Instances.First.ClickAsync();
        await Heading("fulfil").WaitForAsync();
        await Page.Locator(".diagram img").WaitForAsync();
        await Page.Locator(".history").GetByText("charge").First.WaitForAsync();
        var barriers = await _browser.FindBarriersAsync();
        var drawn = await Page.Locator(".diagram img").EvaluateAsync<int>("image => image.naturalWidth");
        var customer = Page.Locator("dl.facts dd").GetByText("bad", new() { Exact = true });
        await customer.WaitForAsync();

        Shop.Refuses = _ => false;
        await Button("Retry…").ClickAsync();
        await Page.GetByLabel("Reason").FillAsync("the bank's door is open");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Retry");
        await Page.Locator("main .facts .state").GetByText("waiting").WaitForAsync();
        await Page.Locator(".diagram img[alt*='pick']").WaitForAsync();
        using (var picked = await Host.PostAsync("/picked", """{ "order": "o-1" }""", "application/json", cancellationToken))
            Assert.That(picked.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));

        await Page.Locator("main .facts .state").GetByText("completed").WaitForAsync();
        await Page.Locator(".history").GetByText("ship").First.WaitForAsync();
        Assert.That(barriers, Is.Empty);
        Assert.That(drawn, Is.Positive, "the drawing was loaded");
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test]
    public async Task Workflow_is_drawn_with_what_it_waits_for_calls_and_publishes()
    {
        await _browser.GoAsync("overview", "Overview");
        await Page.Locator("a.node.workflow").GetByText("fulfil", new() { Exact = true }).First.WaitForAsync();

        var edges = await Page.Locator("path.edge title").AllTextContentsAsync();
        Assert.That(
            edges.Select(edge => edge.Trim()),
            Is.SupersetOf(new[] { "subscribes orders.new, orders.picked", "calls", "publishes orders.shipped" })
        );
    }

    [Test]
    public async Task Instances_are_found_by_key_state_and_step_and_older_ones_follow(CancellationToken cancellationToken)
    {
        const int Orders = 105;
        foreach (var chunk in Enumerable.Range(0, Orders).Chunk(15))
            await Task.WhenAll(chunk.Select(order => OrderAsync($$"""{ "order": "o-{{order}}", "customer": "c" }""", cancellationToken)));
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/workflows?state=waiting&limit=1000", token)).Count == Orders,
            TimeSpan.FromSeconds(60),
            "to start the instances",
            cancellationToken
        );
        await _browser.GoAsync("workflows?state=waiting&step=pick", "Workflows");
        await Button("Older instances").WaitForAsync();
        var first = await Instances.CountAsync();
        var late = new TaskCompletionSource();
        await Page.RouteAsync(
            "**/api/workflows?*after=*",
            async route =>
            {
                await late.Task;
                await route.ContinueAsync();
            }
        );
        await Button("Older instances").ClickAsync();
        await OrderAsync("""{ "order": "o-new", "customer": "c" }""", cancellationToken);
        await Instances.GetByText("o-new").WaitForAsync(); // the first page has changed while the second one was under way
        late.SetResult();
        await Page.WaitForFunctionAsync($"() => document.querySelectorAll('[aria-label=Instances] tbody tr').length === {Orders + 1}");

        await Page.GetByLabel("Business key").FillAsync("order=o-7");
        await Button("Filter").ClickAsync();
        await Page.WaitForFunctionAsync("() => document.querySelectorAll('[aria-label=Instances] tbody tr').length === 1");
        var found = await Instances.First.InnerTextAsync();
        await _browser.GoAsync("workflows?state=completed", "Workflows");
        await Page.GetByText("No instance fits").WaitForAsync();

        Assert.That(first, Is.EqualTo(100));
        Assert.That(found, Does.Contain("o-7").And.Contain("pick").And.Contain("waiting"));
        Assert.That(await _browser.FindBarriersAsync(), Is.Empty);
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test, Category("Thorough")]
    public async Task Many_are_retried_after_a_preview_and_the_rest_is_terminated(CancellationToken cancellationToken)
    {
        Shop.Refuses = body => body.Contains("\"bad\"", StringComparison.Ordinal);
        for (var order = 0; order < 3; order++)
            await OrderAsync($$"""{ "order": "o-{{order}}", "customer": "bad" }""", cancellationToken);
        await SuspendedAsync(3, cancellationToken);
        Shop.Refuses = body => body.Contains("o-2", StringComparison.Ordinal);
        await _browser.GoAsync("workflows?state=suspended", "Workflows");

        await Button("Act on all that match…").ClickAsync();
        await Page.GetByRole(AriaRole.Dialog).GetByText("3 instances would be changed").WaitForAsync();
        var barriers = await _browser.FindBarriersAsync();
        await Page.GetByLabel("Reason").FillAsync("the bank is back");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Retry");
        await Heading("Batches").WaitForAsync();
        await Page.GetByText("done", new() { Exact = true }).WaitForAsync();
        await SuspendedAsync(1, cancellationToken);

        await _browser.GoAsync("workflows?state=suspended", "Workflows");
        await Instances.First.ClickAsync();
        await Button("Terminate…").ClickAsync();
        await Page.GetByLabel("Reason").FillAsync("the customer gave up");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Terminate");

        await Page.Locator("main .facts .state").GetByText("terminated").WaitForAsync();
        await Page.Locator("main .facts").GetByText("the customer gave up").WaitForAsync();
        Assert.That(barriers, Is.Empty);
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test, Category("Thorough")]
    public async Task Wait_is_ended_and_an_action_on_many_is_stopped(CancellationToken cancellationToken)
    {
        for (var order = 0; order < 3; order++)
            await OrderAsync($$"""{ "order": "o-{{order}}", "customer": "c" }""", cancellationToken);
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/workflows?state=waiting", token)).Count == 3,
            TimeSpan.FromSeconds(60),
            "to start the instances",
            cancellationToken
        );
        await Instances.Filter(new() { HasText = "waiting" }).First.ClickAsync();
        await Button("End the wait…").ClickAsync();
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "End the wait");
        await Page.Locator("main .facts .state").GetByText("suspended").WaitForAsync(); // the time is over, and nothing handles it

        await _browser.GoAsync("workflows?state=waiting", "Workflows");
        await Button("Act on all that match…").ClickAsync();
        await Page.GetByLabel("Action").SelectOptionAsync("terminate");
        await Page.GetByLabel("Rate").FillAsync("0.01");
        await Page.GetByLabel("Reason").FillAsync("of a test");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Terminate");
        await Heading("Batches").WaitForAsync();
        await _browser.ActAsync(Page.Locator("main"), "Stop");

        await Page.Locator("main .state").GetByText("stopped").WaitForAsync();
        Assert.That(Items(await Host.AskAsync("/api/workflows?state=waiting", cancellationToken)), Is.Not.Empty);
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test, Category("Thorough")]
    public async Task Failed_step_is_skipped_and_a_variable_set(CancellationToken cancellationToken)
    {
        Shop.Refuses = _ => true;
        await OrderAsync("""{ "order": "o-1", "customer": "bad" }""", cancellationToken);
        await Instances.Filter(new() { HasText = "suspended" }).First.WaitForAsync();
        await Instances.First.ClickAsync();

        await Button("Set…").ClickAsync();
        await Page.GetByLabel("Name").FillAsync("customer");
        await Page.GetByLabel("Value").FillAsync("12345678901234567890");
        await Page.GetByLabel("Reason").FillAsync("misspelt");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Set");
        await Page.Locator("dl.facts dd").GetByText("12345678901234567890", new() { Exact = true }).WaitForAsync();
        await Button("Skip the failed step…").ClickAsync();
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Skip");

        await Page.Locator("main .facts .state").GetByText("waiting").WaitForAsync();
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test, Category("Thorough")]
    public async Task Migration_is_tried_before_it_is_done(CancellationToken cancellationToken)
    {
        await OrderAsync("""{ "order": "o-1", "customer": "c" }""", cancellationToken);
        await Instances.Filter(new() { HasText = "waiting" }).First.WaitForAsync();
        var file = Path.Combine(Host.Folder, "esb.json");
        var text = await File.ReadAllTextAsync(file, cancellationToken);
        await File.WriteAllTextAsync(
            file,
            text.Replace("\"id\": \"ship\"", "\"id\": \"send\"", StringComparison.Ordinal),
            cancellationToken
        );
        await PostAsync("/api/configuration/reload", "{}", cancellationToken);
        await _browser.GoAsync("workflows?name=fulfil", "Workflows");
        await Page.GetByText("earlier").WaitForAsync();

        await Button("Migrate…").ClickAsync();
        await Page.GetByRole(AriaRole.Dialog).GetByText("1 instance can move to").WaitForAsync();
        await Page.GetByLabel("Reason").FillAsync("a better name");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Migrate");

        await Page.GetByText("1 instance moved").WaitForAsync();
        var definitions = Items(await Host.AskAsync("/api/workflows/definitions", cancellationToken));
        var current = definitions.Single(one => one.GetProperty("isCurrent").GetBoolean()).GetProperty("hash").GetString();
        var moved = Items(await Host.AskAsync("/api/workflows", cancellationToken)).Single();
        Assert.That(moved.GetProperty("definition").GetString(), Is.EqualTo(current));
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test, Explicit("makes the pictures of docs/guides/console.md")]
    public async Task Pictures_of_the_guide(CancellationToken cancellationToken)
    {
        Shop.Refuses = body => body.Contains("\"bad\"", StringComparison.Ordinal);
        for (var order = 0; order < 12; order++)
            await OrderAsync($$"""{ "order": "o-{{order}}", "customer": "{{(order % 5 == 0 ? "bad" : "good")}}" }""", cancellationToken);
        await SuspendedAsync(3, cancellationToken);
        await Instances.Filter(new() { HasText = "suspended" }).Nth(2).WaitForAsync();
        await PictureAsync("workflows");
        await Instances.Filter(new() { HasText = "suspended" }).First.ClickAsync();
        await Page.Locator(".diagram img").WaitForAsync();
        await Page.Locator(".history").GetByText("charge").First.WaitForAsync();

        await PictureAsync("workflow");
    }

    private Task PictureAsync(string name) =>
        Page.ScreenshotAsync(
            new PageScreenshotOptions
            {
                Path = Repository.PathOf("docs", "images", $"console-{name}.png"),
                Animations = ScreenshotAnimations.Disabled,
            }
        );

    private Task SuspendedAsync(int count, CancellationToken cancellationToken) =>
        Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/workflows?state=suspended", token)).Count == count,
            TimeSpan.FromSeconds(60),
            $"to have {count} suspended instances",
            cancellationToken
        );

    private ILocator Heading(string name) =>
        Page.GetByRole(
            AriaRole.Heading,
            new()
            {
                Name = name,
                Level = 1,
                Exact = true,
            }
        );

    private ILocator Button(string name) => Page.Locator("main").GetByRole(AriaRole.Button, new() { Name = name, Exact = true }).First;
}
