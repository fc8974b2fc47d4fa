using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Esb.Core.Endpoints;
using Esb.Core.Workflows;
using Esb.Host.Management.Events;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Host.Management.Events;

/// <summary>The event stream over HTTP.</summary>
[CancelAfter(60_000)]
public sealed class EventApiTests : ManagementFixture
{
    private EventStream Stream => Host.Services.GetRequiredService<EventStream>();

    [Test]
    public async Task Greeting_comes_at_once_and_events_follow_with_their_ids(CancellationToken cancellationToken)
    {
        using var lines = await OpenAsync("/api/events", null, cancellationToken);
        var hello = await ReadAsync(lines, cancellationToken);
        Stream.Publish(BusEventKind.Configuration, new { after = "<script>" });
        var happened = await ReadAsync(lines, cancellationToken);

        Assert.That(hello, Does.Contain("event: hello").And.Some.StartsWith("id: "));
        Assert.That(happened, Is.EqualTo(new[] { $"id: {Stream.Run}-1", "event: configuration", "data: {\"after\":\"<script>\"}" }));
    }

    [Test]
    public async Task Interrupted_reader_gets_what_it_missed(CancellationToken cancellationToken)
    {
        for (var count = 0; count < 3; count++)
            Stream.Publish(BusEventKind.Host, new { count });

        using var lines = await OpenAsync("/api/events?kinds=host", $"{Stream.Run}-1", cancellationToken);
        var hello = await ReadAsync(lines, cancellationToken);
        var missed = await ReadAsync(lines, cancellationToken);

        Assert.That(
            hello,
            Does.Contain("event: hello").And.None.StartsWith("id: "),
            "an id would skip what follows after another interruption"
        );
        Assert.That(missed[0], Is.EqualTo($"id: {Stream.Run}-2"));
    }

    [Test]
    public async Task Reader_of_another_run_is_told_to_ask_anew(CancellationToken cancellationToken)
    {
        using var lines = await OpenAsync("/api/events", "other-5", cancellationToken);

        Assert.That(await ReadAsync(lines, cancellationToken), Does.Contain("event: hello"));
        Assert.That(await ReadAsync(lines, cancellationToken), Does.Contain("event: reset"));
    }

    [Test]
    public async Task Stream_that_nobody_reads_is_closed_and_holds_no_memory(CancellationToken cancellationToken)
    {
        using var silent = new System.Net.Sockets.TcpClient { ReceiveBufferSize = 4096 };
        await silent.ConnectAsync(Client.BaseAddress!.Host, Client.BaseAddress.Port, cancellationToken);
        var key = Client.DefaultRequestHeaders.Authorization!;
        await silent
            .GetStream()
            .WriteAsync(
                System.Text.Encoding.ASCII.GetBytes(
                    $"GET /api/events?kinds=host HTTP/1.1\r\nHost: {Client.BaseAddress.Authority}\r\nAuthorization: {key}\r\n\r\n"
                ),
                cancellationToken
            );
        while (!Stream.HasReaders)
            await Task.Delay(20, cancellationToken);

        var large = new { text = new string('x', 4096) };
        for (var count = 0; Stream.HasReaders; count++) // until the buffers of both ends are full, and it is more than 1,000 behind
        {
            Stream.Publish(BusEventKind.Host, large);
            if (count % 100 == 99)
                await Task.Delay(20, cancellationToken);
        }

        using var lines = await OpenAsync("/api/events?kinds=host", null, cancellationToken);
        Assert.That(await ReadAsync(lines, cancellationToken), Does.Contain("event: hello"), "others are served");
    }

    [TestCase("kinds=weather"), TestCase("kinds="), TestCase("sort=1")]
    public async Task Unknown_parameters_are_refused(string query, CancellationToken cancellationToken)
    {
        using var answer = await Client.GetAsync($"/api/events?{query}", cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
    }

    [Test, Property("Case", "API-26")]
    public async Task Stream_of_a_browser_ends_with_its_session(CancellationToken cancellationToken)
    {
        using var browser = new HttpClient(new HttpClientHandler { UseCookies = true }) { BaseAddress = Host.Server.Address };
        using var signedIn = await browser.PostAsJsonAsync("/api/session", new { key = Host.Key }, cancellationToken);
        var session = await browser.GetFromJsonAsync<JsonObject>("/api/session", cancellationToken);
        using var stream = new StreamReader(await browser.GetStreamAsync("/api/events", cancellationToken));
        await ReadAsync(stream, cancellationToken);

        using var leaving = new HttpRequestMessage(HttpMethod.Delete, "/api/session")
        {
            Headers = { { "X-Esb-Csrf", (string)session!["csrf"]! } },
        };
        using var left = await browser.SendAsync(leaving, cancellationToken);
        Stream.Publish(BusEventKind.Configuration, new { after = "secret" });

        Assert.That(await stream.ReadToEndAsync(cancellationToken), Does.Not.Contain("secret"));
    }

    [Test]
    public async Task Sampler_tells_changed_states_once(CancellationToken cancellationToken)
    {
        var state = EndpointState.Running;
        var monitor = Substitute.For<IEndpointMonitor>();
        monitor.Endpoints.Returns(_ =>
            [
                new EndpointStatus
                {
                    Name = "ledger",
                    Type = "file-outbound",
                    State = state,
                },
            ]
        );
        await using var host = await RunningManagement.StartAsync(cancellationToken, services => services.AddSingleton(monitor));
        var sampler = host.Services.GetServices<Esb.Core.IBusPart>().OfType<EventSampler>().Single();
        var stream = host.Services.GetRequiredService<EventStream>();
        var reader = stream.Open(new HashSet<BusEventKind> { BusEventKind.Endpoint, BusEventKind.Rates }, null)!;

        sampler.Look(isSecond: true, cancellationToken);
        sampler.Look(isSecond: false, cancellationToken);
        state = EndpointState.Paused;
        sampler.Look(isSecond: false, cancellationToken);

        var seen = new List<string>();
        while (reader.TryRead(out var read))
            seen.Add(read.Json);
        Assert.That(seen, Has.Count.EqualTo(2));
        Assert.That(seen[0], Does.Contain("\"state\":\"running\""));
        Assert.That(seen[1], Does.Contain("\"state\":\"paused\""));
    }

    [Test]
    public async Task Sampler_tells_instances_of_workflows_that_changed(CancellationToken cancellationToken)
    {
        var id = Guid.NewGuid();
        IReadOnlyList<WorkflowChanges> changed =
        [
            new("fulfil", [new WorkflowChange(id, WorkflowState.Suspended, "charge", 3)], Further: 2),
        ];
        IReadOnlyList<WorkflowChanges> unchanged = [];
        var changes = Substitute.For<IWorkflowChanges>();
        changes.Take().Returns(changed, unchanged);
        await using var host = await RunningManagement.StartAsync(cancellationToken, services => services.AddSingleton(changes));
        var sampler = host.Services.GetServices<Esb.Core.IBusPart>().OfType<EventSampler>().Single();
        var reader = host.Services.GetRequiredService<EventStream>().Open(new HashSet<BusEventKind> { BusEventKind.Workflow }, null)!;

        sampler.Look(isSecond: false, cancellationToken);
        sampler.Look(isSecond: false, cancellationToken);

        Assert.That(reader.TryRead(out var told), Is.True);
        Assert.That(
            told!.Json,
            Does.Contain("\"workflow\":\"fulfil\"")
                .And.Contain($$"""{"id":"{{id}}","state":"suspended","step":"charge","version":3}""")
                .And.Contain("\"further\":2")
        );
        Assert.That(reader.TryRead(out _), Is.False);
    }

    private async Task<StreamReader> OpenAsync(string path, string? lastId, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        if (lastId is not null)
            request.Headers.Add("Last-Event-ID", lastId);
        var answer = await Client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancellationToken);
        Assert.That(answer.Content.Headers.ContentType?.MediaType, Is.EqualTo("text/event-stream"));
        return new StreamReader(await answer.Content.ReadAsStreamAsync(cancellationToken));
    }

    private static async Task<List<string>> ReadAsync(StreamReader lines, CancellationToken cancellationToken)
    {
        var block = new List<string>();
        while (await lines.ReadLineAsync(cancellationToken) is { Length: > 0 } line)
            block.Add(line);
        return block;
    }
}
