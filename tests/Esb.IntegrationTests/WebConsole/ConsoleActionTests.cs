using Esb.IntegrationTests.EndToEnd.Hosts;
using Microsoft.Playwright;

namespace Esb.IntegrationTests.WebConsole;

/// <summary>What an operator does in the console happens, on RabbitMQ and PostgreSQL.</summary>
[Category("Thorough"), FixtureLifeCycle(LifeCycle.InstancePerTestCase), CancelAfter(300_000)]
public sealed class ConsoleActionTests : ShopHost
{
    private readonly ConsoleServers _servers = new(areReal: true);
    private ConsoleBrowser _browser = null!;

    private protected override string Sections => _servers.Sections + """ "management": { "configuration": "store" }, """;

    private protected override string Topics => """, "nobody": {}""";

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    private protected override string Endpoints =>
        $$"""
            , "by-key": { "type": "http-outbound", "subscribe": ["orders.keyed"], "url": "{{Shop.Url}}keyed", "delivery": "ordered-by-key", "retry": { "immediate": 0, "delays": [] } }
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
    public async Task Dead_letter_is_edited_and_replayed(CancellationToken cancellationToken)
    {
        Shop.Refuses = body => body.Contains("wrong", StringComparison.Ordinal);
        await OrderAsync("""{"customer":"wrong"}""", cancellationToken);
        await HasLettersAsync(1, cancellationToken);
        await _browser.GoAsync("dead-letters", "Dead letters");
        await Page.GetByRole(AriaRole.Region, new() { Name = "Dead letters", Exact = true }).Locator("tbody tr").First.ClickAsync();

        await Button("Edit…").ClickAsync();
        await Page.GetByLabel("Edited body").FillAsync("""{"customer":"right"}""");
        await Page.Locator(".diff .added").First.WaitForAsync();
        await Button("Replay edited…").ClickAsync();
        await Page.GetByText("1 message would be sent").WaitForAsync();
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Replay");

        await Page.GetByRole(
                AriaRole.Heading,
                new()
                {
                    Name = "Replay",
                    Exact = true,
                    Level = 1,
                }
            )
            .WaitForAsync();
        await Host.WaitAsync(
            _ => Task.FromResult(Shop.Taken.Any(taken => taken.Body.Contains("right", StringComparison.Ordinal))),
            TimeSpan.FromSeconds(60),
            "to deliver the edited order",
            cancellationToken
        );
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test]
    public async Task Edit_of_a_letter_is_kept_and_a_second_operator_is_told_of_it(CancellationToken cancellationToken)
    {
        Shop.Refuses = body => body.Contains("wrong", StringComparison.Ordinal);
        await OrderAsync("""{"customer":"wrong"}""", cancellationToken);
        await HasLettersAsync(1, cancellationToken);
        var letter = Items(await Host.AskAsync("/api/dead-letters", cancellationToken))[0].GetProperty("id").GetString();
        await using var other = await ConsoleBrowser.OpenAsync(Host);
        await other.SignInAsync(Host);

        foreach (var browser in new[] { _browser, other })
        {
            await browser.GoAsync($"dead-letters/{letter}", "Dead letter");
            await browser.Page.GetByRole(AriaRole.Button, new() { Name = "Edit…" }).ClickAsync();
            await browser
                .Page.GetByLabel("Edited body")
                .FillAsync(browser == other ? """{"customer":"late"}""" : """{"customer":"right"}""");
        }

        foreach (var browser in new[] { _browser, other })
        {
            await browser.Page.GetByRole(AriaRole.Button, new() { Name = "Keep the edit…" }).ClickAsync();
            await browser.Page.GetByLabel("Reason", new() { Exact = true }).FillAsync("of a test");
            await browser.ActAsync(browser.Page.GetByRole(AriaRole.Dialog), "Keep");
            if (browser == _browser)
                await Page.GetByText("Edited by").WaitForAsync();
        }

        await other.Page.GetByText("ESB-LETTER-CHANGED").WaitForAsync();
        await Page.Locator(".diff .added").GetByText("right").First.WaitForAsync();
        await _browser.ActAsync(Page.Locator("main"), "Take the edit back");
        await Page.GetByText("Edited by").WaitForAsync(new() { State = WaitForSelectorState.Detached });
        await Button("Edit…").ClickAsync();
        await Page.GetByLabel("Edited body").FillAsync("""{"customer":"right"}""");
        await Button("Keep the edit…").ClickAsync();
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Keep");
        await Page.GetByText("Edited by").WaitForAsync();
        await Button("Replay…").ClickAsync();
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Replay");
        await Host.WaitAsync(
            _ => Task.FromResult(Shop.Taken.Any(taken => taken.Body.Contains("right", StringComparison.Ordinal))),
            TimeSpan.FromSeconds(60),
            "to deliver the edited order",
            cancellationToken
        );
        Assert.That(Shop.Taken.Any(taken => taken.Body.Contains("late", StringComparison.Ordinal)), Is.False);
        Assert.That(_browser.Troubles.Concat(other.Troubles), Is.Empty);
    }

    [Test]
    public async Task Dead_letters_are_discarded_with_a_reason(CancellationToken cancellationToken)
    {
        await MakeLettersAsync(3, cancellationToken);
        await _browser.GoAsync("dead-letters", "Dead letters");

        await Button("Discard all open letters…").ClickAsync();
        await Page.GetByLabel("Reason", new() { Exact = true }).FillAsync("of a test");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Discard");

        await Page.GetByText("3 discarded").WaitForAsync();
        await HasLettersAsync(0, cancellationToken);
        await _browser.GoAsync("system", "System");
        await Page.GetByRole(AriaRole.Link, new() { Name = "first key" }).ClickAsync();
        await Page.GetByRole(AriaRole.Region, new() { Name = "Recorded events" }).GetByText("discarded").Nth(2).WaitForAsync();
    }

    [Test]
    public async Task Parked_key_is_released(CancellationToken cancellationToken)
    {
        Shop.Refuses = _ => true;
        await SendAsync("orders.keyed", """{"customer":"c-1"}""");
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/parked", token)).Count > 0,
            TimeSpan.FromSeconds(60),
            "to park the key",
            cancellationToken
        );
        Shop.Refuses = _ => false;

        await _browser.GoAsync("parked", "Parked keys");
        await Button("Release…").ClickAsync();
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Release");

        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/parked", token)).Count == 0,
            TimeSpan.FromSeconds(60),
            "to deliver the parked message",
            cancellationToken
        );
        await Page.GetByText("No key waits").WaitForAsync();
    }

    [Test]
    public async Task Parked_message_is_discarded_and_the_one_behind_it_is_delivered(CancellationToken cancellationToken)
    {
        Shop.Refuses = body => body.Contains("bad", StringComparison.Ordinal);
        await SendAsync("orders.keyed", """{"customer":"c-1","state":"bad"}""");
        await SendAsync("orders.keyed", """{"customer":"c-1","state":"good"}""");
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/parked?endpoint=by-key", token)) is [var line] && CountOf(line) == 2,
            TimeSpan.FromSeconds(60),
            "to park both",
            cancellationToken
        );

        await _browser.GoAsync("parked/by-key/c-1", "c-1");
        await Button("Discard…").ClickAsync();
        await Page.GetByLabel("Reason", new() { Exact = true }).FillAsync("of a test");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Discard");

        await Page.GetByText("1 discarded").WaitForAsync();
        await Host.WaitAsync(
            _ =>
                Task.FromResult(
                    Shop.Taken.Any(taken => taken.Path == "/orderskeyed" && taken.Body.Contains("good", StringComparison.Ordinal))
                ),
            TimeSpan.FromSeconds(60),
            "to deliver the second message",
            cancellationToken
        );
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test]
    public async Task Replay_is_paused_resumed_and_cancelled(CancellationToken cancellationToken)
    {
        await MakeLettersAsync(40, cancellationToken);
        Shop.Refuses = _ => false;
        await _browser.GoAsync("dead-letters", "Dead letters");
        await Button("Replay all open letters…").ClickAsync();
        await Page.GetByText("40 messages would be sent").WaitForAsync();
        await Page.GetByLabel("Rate").FillAsync("0.2");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Replay");
        var state = Page.Locator(".tile").Filter(new() { HasText = "State" });

        await _browser.ActAsync(Page.Locator("main"), "Pause");
        await state.GetByText("paused").WaitForAsync();
        await _browser.ActAsync(Page.Locator("main"), "Resume");
        await state.GetByText("running").WaitForAsync();
        await _browser.ActAsync(Page.Locator("main"), "Cancel");
        await state.GetByText("cancelled").WaitForAsync();

        Assert.That(
            Items(await Host.AskAsync("/api/dead-letters?state=open&limit=1000", cancellationToken)),
            Has.Count.GreaterThan(0),
            "what was not sent is open again"
        );
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test]
    public async Task Message_without_a_subscriber_is_published_again_and_stays_while_there_is_none(CancellationToken cancellationToken)
    {
        await SendAsync("nobody", "{}");
        await Host.WaitAsync(
            async token => (await Host.AskAsync("/api/unroutable", token)).GetProperty("count").GetInt64() == 1,
            TimeSpan.FromSeconds(60),
            "to keep the message",
            cancellationToken
        );

        await _browser.GoAsync("topics", "Topics");
        await _browser.ActAsync(Page.Locator("main"), "Publish again");

        await Page.GetByText("Still nothing subscribes to nobody").WaitForAsync();
        Assert.That(_browser.Troubles, Is.Empty);
    }

    [Test]
    public async Task Configuration_is_applied_and_rolled_back(CancellationToken cancellationToken)
    {
        await _browser.GoAsync("configuration/text", "Configuration");
        var text = Page.GetByLabel("Text of the file");
        await ApplyAsync("\"poolSize\": 8", "\"poolSize\": 9");
        await PoolIsAsync(9);
        await Page.GetByRole(AriaRole.Dialog).WaitForAsync(new() { State = WaitForSelectorState.Detached });
        await ApplyAsync("\"poolSize\": 9", "\"poolSize\": 0");
        await Page.GetByRole(AriaRole.Dialog).GetByText("ESB-CFG-RANGE").First.WaitForAsync();
        await Page.GetByRole(AriaRole.Dialog).GetByRole(AriaRole.Button, new() { Name = "Cancel" }).ClickAsync();
        await Button("Drop changes").ClickAsync();
        await ApplyAsync("\"poolSize\": 9", "\"poolSize\": 10");
        await PoolIsAsync(10);

        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/configuration/versions", token))[0].GetProperty("isInService").GetBoolean(),
            TimeSpan.FromSeconds(60),
            "to have the newest version in service",
            cancellationToken
        );
        await _browser.GoAsync("configuration/versions", "Configuration");
        await Button("Roll back…").ClickAsync();
        await Page.GetByLabel("Reason", new() { Exact = true }).FillAsync("of a test");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Put into service");

        await PoolIsAsync(9);
        Assert.That(_browser.Troubles, Is.Empty);

        async Task ApplyAsync(string before, string after)
        {
            await Page.WaitForFunctionAsync(
                "before => document.querySelector('textarea.code').value.includes(before) && !document.querySelector('.tabs [role=tab]')?.innerText.includes('•')",
                before
            );
            await text.FillAsync((await text.InputValueAsync()).Replace(before, after, StringComparison.Ordinal));
            await Button("Apply…").ClickAsync();
            await Page.GetByLabel("Reason", new() { Exact = true }).FillAsync("of a test");
            await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Apply on every host");
        }

        Task PoolIsAsync(int size) =>
            Host.WaitAsync(
                async token =>
                    (await Host.AskAsync("/api/endpoints/shop", token)).GetProperty("current").GetProperty("poolSize").GetInt32() == size,
                TimeSpan.FromSeconds(60),
                $"to have a pool of {size}",
                cancellationToken
            );
    }

    [Test]
    public async Task Endpoint_is_paused_tuned_and_resumed(CancellationToken cancellationToken)
    {
        await _browser.GoAsync("endpoints/shop", "shop");

        await Button("Pause").ClickAsync();
        await Page.GetByText("paused by operator").First.WaitForAsync();
        await OrderAsync("{}", cancellationToken);
        await _browser.GoAsync("overview", "Overview");
        await Page.Locator("a.node").Filter(new() { HasText = "shop" }).GetByText("1 waiting").WaitForAsync();
        await _browser.GoAsync("endpoints/shop", "shop");
        await Button("Tune…").ClickAsync();
        await Page.GetByLabel("Pool size").FillAsync("5");
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Apply to every host");
        await Page.GetByText("Applied on").WaitForAsync();
        await Button("Resume").ClickAsync();
        await Page.Locator("header.page").GetByText("running").WaitForAsync();

        var shop = await Host.AskAsync("/api/endpoints/shop", cancellationToken);
        Assert.That(shop.GetProperty("current").GetProperty("poolSize").GetInt32(), Is.EqualTo(5));
    }

    [Test]
    public async Task Configuration_is_checked_planned_and_reloaded(CancellationToken cancellationToken)
    {
        await _browser.GoAsync("configuration/text", "Configuration");
        var text = Page.GetByLabel("Text of the file");
        var written = await text.InputValueAsync();

        await text.FillAsync(written.Replace("\"poolSize\": 8", "\"poolSize\": 0", StringComparison.Ordinal));
        await Button("Check").ClickAsync();
        await Page.GetByText("ESB-CFG-RANGE").First.WaitForAsync();
        await text.FillAsync(written.Replace("\"poolSize\": 8", "\"poolSize\": 9", StringComparison.Ordinal));
        await Button("Plan").ClickAsync();
        await Page.GetByText("What a reload with these files would do").WaitForAsync();
        await Button("Reload files").ClickAsync();

        await Page.GetByText("Nothing has changed").WaitForAsync();
    }

    [Test]
    public async Task Recorded_message_is_found_by_its_endpoint(CancellationToken cancellationToken)
    {
        var message = await OrderAsync("""{"customer":"c-9"}""", cancellationToken);
        await Host.WaitAsync(
            async token => (await Host.FindAsync($"/api/messages/{message}", token))?.GetProperty("state").GetString() == "delivered",
            TimeSpan.FromSeconds(60),
            "to record the delivery",
            cancellationToken
        );
        await _browser.GoAsync("messages", "Messages");

        await Page.GetByLabel("Search").FillAsync("shop");
        await Button("Search").ClickAsync();
        await Page.GetByRole(AriaRole.Region, new() { Name = "Recorded events" }).Locator("tbody tr").First.ClickAsync();
        await Page.GetByRole(
                AriaRole.Heading,
                new()
                {
                    Name = "Message",
                    Level = 1,
                    Exact = true,
                }
            )
            .WaitForAsync();
        await Page.Locator("button.event").First.ClickAsync();

        await Page.GetByRole(AriaRole.Dialog).WaitForAsync();
        Assert.That(_browser.Troubles, Is.Empty);
    }

    private async Task SendAsync(string subject, string body)
    {
        await _browser.GoAsync("topics", "Topics");
        await Button("Send…").ClickAsync();
        await Page.GetByLabel("Subject").FillAsync(subject);
        await Page.GetByLabel("Body").FillAsync(body);
        await _browser.ActAsync(Page.GetByRole(AriaRole.Dialog), "Send");
        await Page.GetByRole(
                AriaRole.Heading,
                new()
                {
                    Name = "Message",
                    Level = 1,
                    Exact = true,
                }
            )
            .WaitForAsync();
    }

    private static long CountOf(System.Text.Json.JsonElement line) => line.GetProperty("count").GetInt64();

    private Task HasLettersAsync(int count, CancellationToken cancellationToken) =>
        Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/dead-letters?endpoint=shop&state=open", token)).Count == count,
            TimeSpan.FromSeconds(60),
            $"to have {count} dead letters",
            cancellationToken
        );

    private ILocator Button(string name) => Page.Locator("main").GetByRole(AriaRole.Button, new() { Name = name, Exact = true }).First;
}
