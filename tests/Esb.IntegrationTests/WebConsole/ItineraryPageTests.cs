using Esb.IntegrationTests.EndToEnd.Hosts;
using Microsoft.Playwright;

namespace Esb.IntegrationTests.WebConsole;

/// <summary>The page of itineraries: where messages stand, and the stops that they have passed or undone.</summary>
[CancelAfter(300_000)]
public sealed class ItineraryPageTests : ShopHost
{
    private ConsoleBrowser _browser = null!;

    private protected override string Sections =>
        """
            "name": "shop",
            "itineraries": {
              "onboard": {
                "stops": [
                  { "id": "account", "steps": [{ "set": { "headers": { "x-name": { "jsonpath": "$.customer" } } } }], "compensate": [{ "call": "bank" }] },
                  { "id": "ship", "durable": true, "steps": [{ "choose": { "when": [{
                    "if": { "jsonpath": "$.credit", "equals": false },
                    "steps": [{ "fail": { "reason": "no credit", "code": "NO-CREDIT" } }] }] } }] }
                ]
              }
            },
            """;

    private protected override string Endpoints =>
        $$"""
            , "bank": { "type": "http-outbound", "url": "{{Shop.Url}}bank" }
            , "customers": { "type": "http-inbound", "path": "/customers", "itinerary": "onboard" }
            """;

    private IPage Page => _browser.Page;

    private ILocator Rows => Page.GetByRole(AriaRole.Region, new() { Name = "Messages", Exact = true }).Locator("tbody tr");

    [SetUp]
    public async Task Open()
    {
        _browser = await ConsoleBrowser.OpenAsync(Host);
        await _browser.SignInAsync(Host);
        await _browser.GoAsync("itineraries", "Itineraries");
    }

    [TearDown]
    public async Task Close() => await _browser.DisposeAsync();

    [Test]
    public async Task Messages_are_seen_at_their_stops_and_filtered(CancellationToken cancellationToken)
    {
        await Page.GetByText("No message is on an itinerary").WaitForAsync();
        await SendAsync("""{ "customer": "ada", "credit": true }""", cancellationToken);
        await SendAsync("""{ "customer": "bob", "credit": false }""", cancellationToken);
        await Rows.Filter(new() { HasText = "completed" }).First.WaitForAsync();
        await Rows.Filter(new() { HasText = "compensated" }).First.WaitForAsync();

        await Page.GetByLabel("State").SelectOptionAsync("compensated");
        await Page.GetByRole(AriaRole.Button, new() { Name = "Filter" }).ClickAsync();
        await Rows.Filter(new() { HasText = "completed" }).First.WaitForAsync(new() { State = WaitForSelectorState.Detached });
        var barriers = await _browser.FindBarriersAsync();
        await Rows.First.ClickAsync();

        await Page.Locator("dl.facts").GetByText("NO-CREDIT").WaitForAsync();
        var stops = Page.GetByRole(AriaRole.Region, new() { Name = "Stops", Exact = true }).Locator("tbody tr");
        await stops.Filter(new() { HasText = "account" }).Filter(new() { HasText = "passed" }).WaitForAsync();
        await stops.Filter(new() { HasText = "account" }).Filter(new() { HasText = "undone" }).WaitForAsync();
        barriers = [.. barriers, .. await _browser.FindBarriersAsync()];
        Assert.That(barriers, Is.Empty);
        Assert.That(_browser.Troubles, Is.Empty);
    }

    private async Task SendAsync(string customer, CancellationToken cancellationToken)
    {
        using var answer = await Host.PostAsync("/customers", customer, "application/json", cancellationToken);
        Assert.That((int)answer.StatusCode, Is.EqualTo(202), Host.Output);
    }
}
