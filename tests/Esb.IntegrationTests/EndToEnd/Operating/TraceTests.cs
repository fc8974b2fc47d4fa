using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary><c>esb trace</c>: what each step does with the messages of an endpoint.</summary>
[CancelAfter(180_000)]
public sealed class TraceTests : ShopHost
{
    private protected override string Sections =>
        """
            "audit": { "fields": { "order": { "jsonpath": "$.order" } }, "masks": [{ "jsonpath": "$.card" }] },
            "processes": { "check": [
              { "id": "which", "choose": {
                "when": [{
                  "if": { "jsonpath": "$.customer", "equals": "vip" },
                  "steps": [{ "id": "prefer", "set": { "properties": { "vip": true } } }] }],
                "otherwise": [{ "id": "mark",
                  "set": { "body": { "template": "{{\"state\":\"seen\"}}" }, "contentType": "application/json" } }] } },
              { "id": "pass-on", "publish": "orders.checked" } ] },
            """;

    private protected override string Endpoints =>
        """
            , "checked": { "type": "http-inbound", "path": "/checked", "process": "check" }
            """;

    [Test]
    public async Task Steps_of_matching_messages_are_shown_with_masked_bodies_and_the_trace_ends_by_itself(
        CancellationToken cancellationToken
    )
    {
        var tracing = RunAsync(
            cancellationToken,
            "trace",
            "checked",
            "--count",
            "2",
            "--where",
            "order=o-1",
            "--bodies",
            "--reason",
            "orders look odd"
        );
        await RunningAsync(cancellationToken);
        await CheckAsync("""{ "order": "o-1", "customer": "c-1", "card": "4111222233334444" }""", cancellationToken);
        await CheckAsync("""{ "order": "o-2", "customer": "c-1" }""", cancellationToken);
        await CheckAsync("""{ "order": "o-1", "customer": "vip" }""", cancellationToken);

        var (exitCode, output, error) = await tracing;

        Assert.That(exitCode, Is.Zero, error);
        Assert.That(output, Does.Contain("full, 2 messages"));
        Assert.That(output, Does.Match(@"choose\s+which\s.*body 0 → 1").And.Match(@"set\s+mark\s.*body 0 → 1, 16 bytes"));
        Assert.That(output, Does.Match(@"set\s+prefer\s").And.Match(@"publish\s+pass-on\s"));
        Assert.That(output, Does.Contain("body 0, masked").And.Not.Contain("4111222233334444").And.Not.Contain("o-2"));
        Assert.That(await FactsAsync(cancellationToken), Is.EqualTo(["start checked orders look odd"]));
    }

    [Test]
    public async Task Trace_ends_with_the_command_that_shows_it(CancellationToken cancellationToken)
    {
        var (exitCode, line, error) = await CommandLine.InterruptAsync(
            Host.Folder,
            cancellationToken,
            ["trace", "checked", "--url", Host.Management.ToString()]
        );

        Assert.That(exitCode, Is.EqualTo(130), error);
        Assert.That(StateOf(await Host.AskAsync($"/api/traces/{line.Split(' ')[1]}", cancellationToken)), Is.EqualTo("stopped"));
    }

    [Test, Category("Thorough")]
    public async Task Trace_is_ended_by_an_operator_and_only_endpoints_with_steps_are_traced(CancellationToken cancellationToken)
    {
        var trace = await PostAsync("/api/traces", """{ "endpoint": "checked", "for": "10m" }""", cancellationToken);
        var id = trace.GetProperty("id").GetString();
        var again = await RunAsync(cancellationToken, "trace", "checked");
        var without = await RunAsync(cancellationToken, "trace", "shop");
        var unknown = await RunAsync(cancellationToken, "trace", "chequed");

        using var request = new HttpRequestMessage(HttpMethod.Delete, new Uri(Host.Management, $"/api/traces/{id}"));
        var key = await File.ReadAllTextAsync(Path.Combine(Host.Folder, "esb-data", "management.key"), cancellationToken);
        request.Headers.Add("X-Esb-Key", key.Trim());
        using var ended = await Host.Client.SendAsync(request, cancellationToken);
        await CheckAsync("""{ "order": "o-1", "customer": "c-1" }""", cancellationToken);

        var known = await Host.AskAsync($"/api/traces/{id}", cancellationToken);
        Assert.That(ended.StatusCode, Is.EqualTo(HttpStatusCode.OK));
        Assert.That((StateOf(known), Passes(known)), Is.EqualTo(("stopped", 0)));
        Assert.That(again.ExitCode, Is.Not.Zero);
        Assert.That(again.Error, Does.Contain("ESB-API-TRACED"));
        Assert.That(without.Error, Does.Contain("ESB-API-PARAMETER").And.Contain("has none"));
        Assert.That(unknown.Error, Does.Contain("ESB-API-NOTFOUND").And.Contain("checked"));
        Assert.That(await FactsAsync(cancellationToken), Is.EqualTo(["end checked ", "start checked "]));

        static int Passes(JsonElement view) => view.GetProperty("messages").GetArrayLength();
    }

    private async Task CheckAsync(string body, CancellationToken cancellationToken)
    {
        using var answer = await Host.PostAsync("/checked", body, "application/json", cancellationToken);
        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), Host.Output);
    }

    private Task RunningAsync(CancellationToken cancellationToken) =>
        Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/traces", token)).Count == 1,
            TimeSpan.FromSeconds(60),
            "to trace",
            cancellationToken
        );

    private async Task<IReadOnlyList<string>> FactsAsync(CancellationToken cancellationToken) =>
        [
            .. Items(await Host.AskAsync("/api/messages?kind=recorded", cancellationToken))
                .Where(fact => fact.GetProperty("name").GetString() == "trace")
                .Select(fact =>
                    $"{fact.GetProperty("fields").GetProperty("action").GetString()} {fact.GetProperty("endpoint").GetString()} "
                    + (fact.TryGetProperty("reason", out var reason) ? reason.GetString() : "")
                ),
        ];
}
