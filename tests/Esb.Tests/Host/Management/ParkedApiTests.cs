using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Host.Commands;
using Esb.Host.Management.Parking;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Host.Management;

[CancelAfter(30_000)]
public sealed class ParkedApiTests
{
    private static readonly DateTimeOffset Now = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    private RunningManagement _host = null!;
    private IParkingDesk _desk = null!;

    [SetUp]
    public async Task Start()
    {
        _host = await RunningManagement.StartAsync(CancellationToken.None);
        _desk = _host.Services.GetRequiredService<IParkingDesk>();
        _desk
            .ListAsync(null, null, 0, default)
            .ReturnsForAnyArgs([
                new WaitingLine("ledger", "c/7", 3, Now, null, new FailedAttempt(Now, "ESB-X", "no")),
                new WaitingLine("ledger", "", 1, Now, Now, null),
                new WaitingLine("books", null, 1, Now, null, null),
            ]);
    }

    [TearDown]
    public async Task Stop() => await _host.DisposeAsync();

    [Test]
    public async Task Lines_are_listed_under_names_that_fit_into_paths(CancellationToken cancellationToken)
    {
        var page = (await _host.Client.GetFromJsonAsync<JsonObject>("/api/parked?endpoint=ledger&limit=7", cancellationToken))!;

        Assert.That(
            page["items"]!.AsArray().Select(line => ((string?)line!["line"], (string?)line["key"])),
            Is.EqualTo([("c/7", "c/7"), ("~", null), ("*", (string?)null)])
        );
        await _desk.Received().ListAsync("ledger", null, 7, Arg.Any<CancellationToken>());
    }

    [
        TestCase("c-1", "c-1"),
        TestCase("c%2F7", "c/7"),
        TestCase("c%252F7", "c%2F7"),
        TestCase("~", ""),
        TestCase("*", null),
        TestCase("~*", "*"),
        TestCase("~~x", "~x"),
        TestCase("~.", "."),
        TestCase("~..", ".."),
        TestCase("%C3%BC%20%3F", "ü ?")
    ]
    public async Task Key_is_read_from_the_path_as_it_was_meant(string path, string? key, CancellationToken cancellationToken)
    {
        _desk
            .MessagesAsync("ledger", key, 0, 100, Arg.Any<CancellationToken>())
            .Returns([new WaitingMessage(Guid.NewGuid(), "orders.new", null, 3, Now, null, [])]);
        _desk.ReleaseAsync("ledger", key, Arg.Any<OperatorDecision>(), Arg.Any<CancellationToken>()).Returns(true);

        using var shown = await _host.Client.GetAsync($"/api/parked/ledger/{path}?limit=100", cancellationToken);
        using var released = await _host.Client.PostAsync($"/api/parked/ledger/{path}/release", null, cancellationToken);
        using var elsewhere = await _host.Client.GetAsync($"/api/parked/other/{path}", cancellationToken);

        Assert.That(
            (shown.StatusCode, released.StatusCode, elsewhere.StatusCode),
            Is.EqualTo((HttpStatusCode.OK, HttpStatusCode.Accepted, HttpStatusCode.NotFound))
        );
    }

    [Test]
    public async Task Body_and_headers_of_a_parked_message_are_shown(CancellationToken cancellationToken)
    {
        var message = Some.Message("<order/>");
        _desk
            .MessagesAsync("ledger", "c/7", 0, 50, Arg.Any<CancellationToken>())
            .Returns([
                new WaitingMessage(message.Id, "orders.new", null, 8, Now, null, [])
                {
                    Headers = new Dictionary<string, string> { ["x-order"] = "A-1" },
                },
            ]);
        _desk.FindAsync("ledger", "c/7", message.Id, Arg.Any<CancellationToken>()).Returns(message);

        var line = (await _host.Client.GetFromJsonAsync<JsonObject>("/api/parked/ledger/c%2F7", cancellationToken))!;
        var body = await _host.Client.GetStringAsync($"/api/parked/ledger/c%2F7/{message.Id}/body", cancellationToken);
        using var missing = await _host.Client.GetAsync($"/api/parked/ledger/c%2F7/{Guid.NewGuid()}/body", cancellationToken);
        using var standing = await _host.Client.GetAsync($"/api/parked/ledger/*/{message.Id}/body", cancellationToken);

        Assert.That((string?)line["items"]![0]!["headers"]!["x-order"], Is.EqualTo("A-1"));
        Assert.That(body, Is.EqualTo("<order/>"));
        Assert.That((missing.StatusCode, standing.StatusCode), Is.EqualTo((HttpStatusCode.NotFound, HttpStatusCode.NotFound)));
    }

    [Test]
    public async Task Next_page_begins_behind_the_last_line(CancellationToken cancellationToken)
    {
        var lines = (await _host.Client.GetFromJsonAsync<JsonObject>("/api/parked?limit=3", cancellationToken))!;
        _desk
            .ListAsync(null, new WaitingPosition(Now, "books", null), 3, Arg.Any<CancellationToken>())
            .Returns([new WaitingLine("ledger", "a~b/c", 1, Now, null, null)]);
        var next = (
            await _host.Client.GetFromJsonAsync<JsonObject>(
                $"/api/parked?limit=3&after={Uri.EscapeDataString((string)lines["next"]!)}",
                cancellationToken
            )
        )!;
        using var wrong = await _host.Client.GetAsync("/api/parked?after=x", cancellationToken);
        using var late = await _host.Client.GetAsync("/api/parked?after=9999999999999999999~a~b", cancellationToken);

        Assert.That((string?)next["items"]![0]!["key"], Is.EqualTo("a~b/c"));
        Assert.That(next["next"], Is.Null);
        Assert.That((wrong.StatusCode, late.StatusCode), Is.EqualTo((HttpStatusCode.BadRequest, HttpStatusCode.BadRequest)));
    }

    [TestCase("."), TestCase(".."), TestCase("*"), TestCase("~"), TestCase("c/7"), TestCase("...")]
    public void Name_of_a_line_survives_a_path(string key)
    {
        var path = new Uri(new Uri("http://host/"), $"api/parked/ledger/{Uri.EscapeDataString(LineName.Of(key))}/release").AbsolutePath;

        Assert.That(LineName.KeyOf(Uri.UnescapeDataString(path.Split('/')[4])), Is.EqualTo(key));
    }

    [Test]
    public async Task Discarding_names_a_message_or_all_and_a_reason(CancellationToken cancellationToken)
    {
        var id = Guid.NewGuid();
        _desk.DiscardAsync("ledger", "c-1", id, new OperatorDecision("management key", "paid"), Arg.Any<CancellationToken>()).Returns(1);

        Assert.That(await DiscardAsync("""{ "reason": "paid" }""", cancellationToken), Is.EqualTo(HttpStatusCode.BadRequest));
        Assert.That(await DiscardAsync("""{ "all": true }""", cancellationToken), Is.EqualTo(HttpStatusCode.BadRequest));
        Assert.That(await DiscardAsync("""{ "all": true, "reason": "paid" }""", cancellationToken), Is.EqualTo(HttpStatusCode.NotFound));
        Assert.That(
            await DiscardAsync($$"""{ "messageId": "{{id}}", "reason": "paid" }""", cancellationToken),
            Is.EqualTo(HttpStatusCode.OK)
        );
    }

    [Test]
    public async Task Command_line_lists_shows_releases_and_discards(CancellationToken cancellationToken)
    {
        var id = Guid.NewGuid();
        _desk
            .MessagesAsync("ledger", "c/7", 0, 1000, Arg.Any<CancellationToken>())
            .Returns([new WaitingMessage(id, "orders.new", null, 3, Now, null, [new FailedAttempt(Now, "ESB-X", "no")])]);
        _desk.ReleaseAsync("ledger", "c/7", Arg.Any<OperatorDecision>(), Arg.Any<CancellationToken>()).Returns(true);
        _desk.DiscardAsync("ledger", "c/7", id, Arg.Any<OperatorDecision>(), Arg.Any<CancellationToken>()).Returns(1);

        Assert.That(await RunAsync("list"), Does.Contain("c/7").And.Contain("ESB-X"));
        Assert.That(await RunAsync("show", "ledger", "c/7"), Does.Contain(id.ToString()));
        Assert.That(await RunAsync("release", "ledger", "c/7", "--reason", "mended"), Does.Contain("c/7 at ledger is tried again"));
        Assert.That(
            await RunAsync("discard", "ledger", "c/7", "--message", $"{id}", "--reason", "paid"),
            Does.Contain("1 parked messages discarded")
        );
        await _desk
            .Received()
            .ReleaseAsync("ledger", "c/7", new OperatorDecision(Environment.UserName, "mended"), Arg.Any<CancellationToken>());
        Assert.That(await RunAsync(2, "discard", "ledger", "c/7", "--reason", "paid"), Is.Empty);
        Assert.That(await RunAsync(2, "release", "ledger", "c/8"), Is.Empty);
    }

    private async Task<HttpStatusCode> DiscardAsync(string body, CancellationToken cancellationToken)
    {
        using var response = await _host.Client.PostAsync(
            "/api/parked/ledger/c-1/discard",
            new StringContent(body, Encoding.UTF8, "application/json"),
            cancellationToken
        );
        return response.StatusCode;
    }

    private Task<string> RunAsync(params string[] arguments) => RunAsync(0, arguments);

    private async Task<string> RunAsync(int exitCode, params string[] arguments)
    {
        using var output = new StringWriter();
        using var error = new StringWriter();
        var context = new CommandContext
        {
            Output = output,
            Error = error,
            Variables = new Dictionary<string, string>(),
            Services = StandIns.Services,
            ReachTime = TimeSpan.FromMinutes(1), // the machine may be busy
        };
        Assert.That(
            await EsbCommandLine.InvokeAsync(
                ["parked", .. arguments, "--url", _host.Server.Address.ToString(), "--key-file", _host.Server.KeyFile],
                context
            ),
            Is.EqualTo(exitCode),
            error.ToString()
        );
        return output.ToString();
    }
}
