using Esb.IntegrationTests.EndToEnd.Hosts;
using Microsoft.Playwright;

namespace Esb.IntegrationTests.WebConsole;

/// <summary>Each page of the console shows a running host, without an error and without a barrier.</summary>
[TestFixture(false)]
[TestFixture(true, Category = "Thorough")]
[FixtureLifeCycle(LifeCycle.InstancePerTestCase), CancelAfter(300_000)]
public sealed class ConsolePageTests(bool hasServers) : ShopHost
{
    private const string Markup = "<img src=x onerror=\\\"window.attacked=1\\\"><script>window.attacked=1</script>";

    private readonly ConsoleServers _servers = new(hasServers);
    private ConsoleBrowser _browser = null!;

    private protected override string Sections => _servers.Sections + "\"name\": \"shop\",";

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    [SetUp]
    public async Task Open()
    {
        _browser = await ConsoleBrowser.OpenAsync(Host);
        await _browser.SignInAsync(Host);
    }

    [TearDown]
    public async Task Close() => await _browser.DisposeAsync();

    [Test, Property("Case", "API-14")]
    public async Task Every_page_shows_the_host_without_error_or_barrier(CancellationToken cancellationToken)
    {
        Shop.Refuses = _ => true;
        var message = await OrderAsync($$"""{ "customer": "c-1", "note": "{{Markup}}" }""", cancellationToken);
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/dead-letters", token)).Count == 1,
            TimeSpan.FromSeconds(60),
            "to keep a dead letter",
            cancellationToken
        );
        var letter = Items(await Host.AskAsync("/api/dead-letters", cancellationToken))[0].GetProperty("id").GetString()!;

        var barriers = new List<string>();
        foreach (
            var (path, heading, shows) in new[]
            {
                ("overview", "Overview", "orders-in"),
                ("messages", "Messages", "dead lettered"),
                ($"messages/{message}", "Message", "shop"),
                ("dead-letters", "Dead letters", "shop"),
                ($"dead-letters/{letter}", "Dead letter", "onerror"),
                ("dead-letters/jobs", "Replays", "Nothing was replayed yet"),
                ("parked", "Parked keys", "No key waits"),
                ("topics", "Topics", "orders"),
                ("endpoints", "Endpoints", "http-inbound"),
                ("endpoints/shop", "shop", "Messages per second"),
                ("workflows", "Workflows", "No workflows are configured"),
                ("workflows/batches", "Batches", "No action on many instances has begun"),
                ("itineraries", "Itineraries", "No message is on an itinerary"),
                ("activities", "Activities", "No activities are configured"),
                ("configuration/values", "Configuration", "endpoints.shop.poolSize"),
                ("configuration/text", "Configuration", "esb.json"),
                ("system", "System", "answers this page"),
                ("system", "System", "the key of the first start"),
                ("system", "System", "first key"),
            }
        )
        {
            await _browser.GoAsync(path, heading);
            await _browser.Page.Locator("main").GetByText(shows).Filter(new() { Visible = true }).First.WaitForAsync();
            barriers.AddRange((await _browser.FindBarriersAsync()).Select(found => $"{path}: {found}"));
            var silent = await _browser.Page.Locator("[data-action]:not(:has([data-curl]))").CountAsync();
            Assert.That(silent, Is.Zero, $"{path} has an action without its call");
        }

        Assert.That(barriers, Is.Empty);
        Assert.That(_browser.Troubles, Is.Empty);
        Assert.That(await _browser.Page.EvaluateAsync<bool>("() => 'attacked' in window"), Is.False, "what strangers send is text");
    }

    [Test, Category("Thorough")]
    public async Task Every_action_copies_the_call_that_it_makes(CancellationToken cancellationToken)
    {
        await MakeLettersAsync(1, cancellationToken);
        var (page, main) = (_browser.Page, _browser.Page.Locator("main"));
        var dialog = page.GetByRole(AriaRole.Dialog);

        await _browser.GoAsync("endpoints/shop", "shop");
        await _browser.ActAsync(main, "Pause");
        await main.Locator("[data-action=Resume]").WaitForAsync();
        await _browser.ActAsync(main, "Resume");
        await page.GetByRole(AriaRole.Button, new() { Name = "Tune…" }).ClickAsync();
        await page.GetByLabel("Pool size").FillAsync("5");
        await _browser.ActAsync(dialog, "Apply to every host");
        await _browser.ActAsync(main, "Take back");
        await _browser.GoAsync("topics", "Topics");
        await page.GetByRole(AriaRole.Button, new() { Name = "Send…" }).ClickAsync();
        await page.GetByLabel("Content type").FillAsync("text/plain");
        await page.GetByLabel("Body").FillAsync("it's a test");
        await _browser.ActAsync(dialog, "Send");
        await _browser.GoAsync("configuration/text", "Configuration");
        await _browser.ActAsync(main, "Check");
        await _browser.ActAsync(main, "Plan");
        await _browser.ActAsync(main, "Reload files");
        await _browser.GoAsync("system", "System");
        await _browser.ActAsync(main, "For 10 min");
        await _browser.GoAsync("dead-letters", "Dead letters");
        await page.GetByRole(AriaRole.Button, new() { Name = "Discard all open letters…" }).ClickAsync();
        await page.GetByLabel("Reason", new() { Exact = true }).FillAsync("of a test");
        await _browser.ActAsync(dialog, "Discard");

        await page.GetByText("1 discarded").WaitForAsync();
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test, Category("Thorough")]
    public async Task Dark_and_narrow_pages_have_no_barrier_either(CancellationToken cancellationToken)
    {
        await using var browser = await ConsoleBrowser.OpenAsync(Host, ColorScheme.Dark, 420, 800);
        await browser.SignInAsync(Host);

        var barriers = new List<string>();
        foreach (
            var (path, heading) in new[]
            {
                ("overview", "Overview"),
                ("messages", "Messages"),
                ("dead-letters", "Dead letters"),
                ("parked", "Parked keys"),
                ("topics", "Topics"),
                ("endpoints/shop", "shop"),
                ("workflows", "Workflows"),
                ("itineraries", "Itineraries"),
                ("activities", "Activities"),
                ("configuration/text", "Configuration"),
                ("system", "System"),
            }
        )
        {
            await browser.GoAsync(path, heading);
            barriers.AddRange((await browser.FindBarriersAsync()).Select(found => $"{path}: {found}"));
            var overflow = await browser.Page.EvaluateAsync<int>(
                "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
            );
            Assert.That(overflow, Is.LessThanOrEqualTo(0), $"{path} does not fit");
        }

        Assert.That(barriers, Is.Empty);
        Assert.That(browser.Troubles, Is.Empty);
    }

    [Test]
    public async Task Letter_is_found_opened_and_decided_on_by_keyboard_alone(CancellationToken cancellationToken)
    {
        await MakeLettersAsync(1, cancellationToken);
        var page = _browser.Page;
        await _browser.GoAsync("dead-letters", "Dead letters");
        await page.Locator("[aria-label='Dead letters'] tr.opens").First.WaitForAsync();

        await TabToAsync("[aria-label='Dead letters'] tr.opens");
        await page.Keyboard.PressAsync("Enter");
        await page.GetByRole(AriaRole.Heading, new() { Name = "Dead letter", Exact = true }).WaitForAsync();
        await TabToAsync("main button:not([data-curl]):not(.icon-only)");
        await page.Keyboard.PressAsync("Enter");
        await page.GetByRole(AriaRole.Dialog).WaitForAsync();
        await page.Keyboard.PressAsync("Escape");

        await page.GetByRole(AriaRole.Dialog).WaitForAsync(new() { State = WaitForSelectorState.Detached });
        Assert.That(_browser.Troubles, Is.Empty);

        async Task TabToAsync(string selector)
        {
            for (var press = 0; press < 100; press++)
            {
                await page.Keyboard.PressAsync("Tab");
                if (await page.EvaluateAsync<bool>("selector => document.activeElement.matches(selector)", selector))
                    return;
            }

            Assert.Fail($"No key leads to {selector}");
        }
    }

    [Test, Category("Thorough")]
    public async Task Times_are_local_and_say_utc_in_their_title(CancellationToken cancellationToken)
    {
        await MakeLettersAsync(1, cancellationToken);
        var letter = Items(await Host.AskAsync("/api/dead-letters", cancellationToken))[0];
        var at = letter.GetProperty("lastAttempt").GetDateTimeOffset();
        await using var browser = await ConsoleBrowser.OpenAsync(Host, timeZone: "Asia/Kathmandu"); // 5:45 ahead, all year
        await browser.SignInAsync(Host);
        await browser.GoAsync("dead-letters", "Dead letters");
        var time = browser.Page.GetByRole(AriaRole.Region, new() { Name = "Dead letters", Exact = true }).Locator("tbody time").First;
        await time.WaitForAsync();

        var local = at.ToUniversalTime() + new TimeSpan(5, 45, 0);
        Assert.That(await time.GetAttributeAsync("title"), Does.StartWith($"{at.UtcDateTime:yyyy-MM-ddTHH:mm:ss}").And.EndsWith("(UTC)"));
        Assert.That(await time.InnerTextAsync(), Does.Contain($"{local:mm:ss}"));
    }

    [Test, Category("Thorough")]
    public async Task Page_of_one_version_says_that_the_host_runs_another(CancellationToken cancellationToken)
    {
        var page = _browser.Page;
        await page.RouteAsync(
            "**/*",
            async route =>
            {
                if (route.Request.ResourceType != "document")
                {
                    await route.ContinueAsync();
                    return;
                }

                var answer = await route.FetchAsync();
                var kept = (await answer.TextAsync()).Replace(
                    "\"esb-version\" content=\"",
                    "\"esb-version\" content=\"0.",
                    StringComparison.Ordinal
                );
                await route.FulfillAsync(new() { Response = answer, Body = kept });
            }
        );
        await page.ReloadAsync(); // as a page that was loaded before its host was upgraded

        await page.GetByText("The host now runs version").WaitForAsync();
    }

    [Test]
    public async Task Long_list_goes_on_by_scrolling_and_keeps_the_rows_near_the_view_in_the_page(CancellationToken cancellationToken)
    {
        const int Orders = 200; // each of which leaves three facts or more
        for (var order = 0; order < Orders; order++)
            await OrderAsync($$"""{ "customer": "c-{{order}}" }""", cancellationToken);
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/messages?kind=delivered&limit=1000", token)).Count >= Orders,
            TimeSpan.FromSeconds(60),
            "to deliver all orders",
            cancellationToken
        );
        var page = _browser.Page;
        await _browser.GoAsync("messages", "Messages");
        await page.GetByRole(AriaRole.Button, new() { Name = "Older events" }).ClickAsync();

        await page.WaitForFunctionAsync(
            $$"""
            () => {
              scrollTo(0, document.documentElement.scrollHeight);
              return document.querySelector('main table').ariaRowCount > {{3 * Orders}};
            }
            """
        );
        await _browser.ScrollToLastRowAsync();
        Assert.That(await page.Locator("main tbody tr").CountAsync(), Is.LessThan(2 * Orders), "rows in the page");

        await page.EvaluateAsync("() => scrollTo(0, 0)");
        await page.Locator("main tr[aria-rowindex='2']").WaitForAsync();
        Assert.That(await _browser.FindBarriersAsync(), Is.Empty);
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test]
    public async Task Wrong_key_is_refused_and_signing_out_ends_the_session(CancellationToken cancellationToken)
    {
        var page = _browser.Page;
        await page.GetByRole(AriaRole.Button, new() { Name = "Sign out" }).ClickAsync();
        await page.GetByLabel("Management key").FillAsync("wrong");
        await page.GetByRole(AriaRole.Button, new() { Name = "Sign in" }).ClickAsync();

        await page.GetByText("ESB-API-KEY").WaitForAsync();
    }

    [Test]
    public async Task State_and_queue_of_an_endpoint_arrive_by_the_event_stream(CancellationToken cancellationToken)
    {
        var page = _browser.Page;
        await page.GetByText("Live", new() { Exact = true }).WaitForAsync();
        var node = page.Locator("a.node.warn").Filter(new() { HasText = "shop" });
        Assert.That(await node.CountAsync(), Is.Zero);

        await CommandLine.RunAsync(Host.Folder, cancellationToken, "endpoints", "pause", "shop", "--url", Host.Management.ToString());
        await node.WaitForAsync();

        for (var order = 0; order < 3; order++)
            await OrderAsync("{}", cancellationToken);
        await node.GetByText("3 waiting").WaitForAsync();
    }

    [Test, Explicit("makes the pictures of docs/guides/console.md")]
    public async Task Pictures_of_the_guide(CancellationToken cancellationToken)
    {
        Shop.Refuses = body => body.Contains("\"bad\"", StringComparison.Ordinal);
        for (var order = 0; order < 40; order++)
            await OrderAsync(
                $$"""{ "customer": "c-{{order % 7}}", "order": {{4700 + order}}, "state": "{{(order % 9 == 0 ? "bad" : "new")}}" }""",
                cancellationToken
            );
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/dead-letters", token)).Count >= 4,
            TimeSpan.FromSeconds(60),
            "to keep dead letters",
            cancellationToken
        );
        var letter = Items(await Host.AskAsync("/api/dead-letters", cancellationToken))[0];
        foreach (
            var (name, path, heading) in new[]
            {
                ("overview", "overview", "Overview"),
                ("message", $"messages/{letter.GetProperty("messageId")}", "Message"),
                ("dead-letters", "dead-letters", "Dead letters"),
                ("dead-letter", $"dead-letters/{letter.GetProperty("id")}", "Dead letter"),
                ("endpoint", "endpoints/shop", "shop"),
                ("configuration", "configuration/text", "Configuration"),
                ("system", "system", "System"),
            }
        )
        {
            await _browser.GoAsync(path, heading);
            var traffic = Enumerable
                .Range(0, 60)
                .Select(async order =>
                {
                    await Task.Delay(order * 50, cancellationToken);
                    await OrderAsync(
                        $$"""{ "customer": "c-{{order % 7}}", "order": {{4800 + order}}, "state": "new" }""",
                        cancellationToken
                    );
                });
            await Task.WhenAll(traffic); // so that rates and charts have something to show
            await _browser.Page.ScreenshotAsync(
                new PageScreenshotOptions
                {
                    Path = Repository.PathOf("docs", "images", $"console-{name}.png"),
                    Animations = ScreenshotAnimations.Disabled,
                }
            );
        }
    }
}
