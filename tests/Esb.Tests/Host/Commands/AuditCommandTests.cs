using System.Text.Json.Nodes;
using Esb.Core.Audit;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Host.Commands;
using Esb.Tests.Audit.Journeys;
using Esb.Tests.Host.Management;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Host.Commands;

[CancelAfter(30_000)]
public sealed class AuditCommandTests
{
    private DirectoryInfo _folder = null!;
    private RunningManagement _host = null!;
    private StringWriter _output = null!;
    private StringWriter _error = null!;

    private string Output => _output.ToString();

    private string Error => _error.ToString();

    [SetUp]
    public async Task Start()
    {
        _folder = Directory.CreateTempSubdirectory("esb-");
        (_output, _error) = (new StringWriter(), new StringWriter());
        _host = await RunningManagement.StartAsync(CancellationToken.None);
        _host.Store.Facts.AddRange(Stories.RetryAndReplay().Facts);
    }

    [TearDown]
    public async Task Stop()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Every_option_of_find_reaches_the_host()
    {
        var (id, before, trace) = (Guid.NewGuid(), Guid.NewGuid(), new string('a', 32));

        var exitCode = await RunAsync(
            "audit",
            "find",
            "--id",
            id.ToString(),
            "--where",
            "order=A 1&x",
            "--endpoint",
            "shop",
            "--process",
            "p",
            "--party",
            "acme",
            "--trace",
            trace,
            "--failed",
            "--from",
            "2026-01-01T00:00:00Z",
            "--to",
            "2026-02-01T00:00:00Z",
            "--before",
            before.ToString(),
            "--limit",
            "3"
        );

        var asked = _host.Store.Asked!;
        Assert.That(exitCode, Is.Zero, Error);
        Assert.That(
            (
                asked.MessageId,
                asked.Where["order"],
                asked.Endpoint,
                asked.Process,
                asked.Party,
                asked.TraceId,
                asked.OnlyFailures,
                asked.Limit,
                asked.Before
            ),
            Is.EqualTo(((Guid?)id, "A 1&x", "shop", "p", "acme", trace, true, 3, (Guid?)before))
        );
        Assert.That(
            (asked.From, asked.To),
            Is.EqualTo((new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero), new DateTimeOffset(2026, 2, 1, 0, 0, 0, TimeSpan.Zero)))
        );
    }

    [TestCase("2026-01-01T08:00:00"), TestCase("2026-01-01T08:00:00Z"), TestCase("2026-01-01T10:00:00+02:00")]
    public async Task Time_without_an_offset_is_utc_on_every_machine(string from)
    {
        Assert.That(await RunAsync("audit", "find", "--from", from), Is.Zero, Error);

        Assert.That(_host.Store.Asked!.From, Is.EqualTo(new DateTimeOffset(2026, 1, 1, 8, 0, 0, TimeSpan.Zero)));
    }

    [Test]
    public async Task Time_that_is_none_is_refused()
    {
        Assert.That(await RunAsync("audit", "find", "--from", "yesterday"), Is.EqualTo(2));
        Assert.That(Error, Does.Contain("--from: expected a time such as 2026-01-31T08:00:00Z"));
    }

    [Test]
    public async Task Kind_is_named_as_the_api_names_it()
    {
        Assert.That(await RunAsync("audit", "find", "--kind", "dead-lettered"), Is.Zero, Error);
        Assert.That(_host.Store.Asked!.Kind, Is.EqualTo(AuditKind.DeadLettered));
    }

    [
        TestCase("--kind", "dead-letterd", "did you mean \"dead-lettered\"?"),
        TestCase("--trace", "xyz", "32 hexadecimal digits"),
        TestCase("--id", "7", "--id"),
        TestCase("--from", "soon", "--from")
    ]
    public async Task Option_that_finds_nothing_ever_is_refused(string option, string value, string error)
    {
        Assert.That(await RunAsync("audit", "find", option, value), Is.EqualTo(2));
        Assert.That(Error, Does.Contain(error));
    }

    [Test]
    public async Task Further_pages_are_named_and_found()
    {
        Assert.That(await RunAsync("audit", "find", "--limit", "3"), Is.Zero, Error);
        Assert.That(Output.TrimEnd().Split('\n'), Has.Length.EqualTo(4));
        Assert.That(Error, Does.Contain($"There may be more: --before {_host.Store.Facts[2].Id}"));
    }

    [Test]
    public async Task Found_facts_are_written_as_json_with_the_key_of_the_next_page()
    {
        Assert.That(await RunAsync("audit", "find", "--limit", "1", "--json"), Is.Zero, Error);

        var page = JsonNode.Parse(Output)!;
        Assert.That((string?)page["items"]![0]!["kind"], Is.EqualTo("received"));
        Assert.That((string?)page["next"], Is.EqualTo(_host.Store.Facts[0].Id.ToString()));
    }

    [Test]
    public async Task Journey_is_shown_as_a_tree()
    {
        Assert.That(await RunAsync("audit", "show", Story.MessageId(1).ToString()), Is.Zero, Error);
        Assert.That(
            Output,
            Does.StartWith($"{Story.MessageId(1)} delivered after 1 h 00 min")
                .And.Contain("delivery shop: delivered")
                .And.Contain("replayed by ada (the shop is back)")
        );
    }

    [Test]
    public async Task Journey_is_drawn_for_mermaid_and_as_a_picture()
    {
        var file = Path.Combine(_folder.FullName, "journey.svg");

        Assert.That(await RunAsync("audit", "show", Story.MessageId(1).ToString(), "--mermaid"), Is.Zero, Error);
        Assert.That(Output, Does.StartWith("sequenceDiagram\n"));
        Assert.That(await RunAsync("audit", "show", Story.MessageId(1).ToString(), "--svg", file), Is.Zero, Error);
        Assert.That(await File.ReadAllTextAsync(file), Does.StartWith("<svg").And.EndWith("</svg>\n"));
        Assert.That(await RunAsync("audit", "show", Story.MessageId(1).ToString(), "--json", "--mermaid"), Is.EqualTo(2));
    }

    [Test]
    public async Task Recorded_message_is_replayed()
    {
        var desk = Desk();

        Assert.That(
            await RunAsync(
                "audit",
                "replay",
                Story.MessageId(1).ToString(),
                "--endpoint",
                "shop",
                "--reason",
                "mended",
                "--command",
                "monday"
            ),
            Is.Zero,
            Error
        );

        Assert.That(Output, Is.EqualTo($"{Story.MessageId(1)} sent to shop{Environment.NewLine}"));
        await desk.Received(1)
            .ReplayAsync(
                new AuditReplayRequest
                {
                    MessageId = Story.MessageId(1),
                    Endpoint = "shop",
                    Command = "monday",
                },
                Arg.Is<OperatorDecision>(decision => decision.Reason == "mended"),
                Arg.Any<CancellationToken>()
            );
    }

    [Test]
    public async Task Messages_that_options_find_are_counted_or_replayed()
    {
        Desk();

        Assert.That(await RunAsync("audit", "replay", "--at", "orders-in", "--endpoint", "shop", "--preview"), Is.Zero, Error);
        Assert.That(await RunAsync("audit", "replay", "--at", "orders-in", "--endpoint", "shop", "--limit", "5"), Is.Zero, Error);

        Assert.That(_host.Store.Asked!.Endpoint, Is.EqualTo("orders-in"));
        Assert.That(Output.ReplaceLineEndings("\n"), Is.EqualTo("1 message\n1 message sent to shop, 0 refused\n"));
    }

    [
        TestCase("--endpoint shop"),
        TestCase("01950000-0000-7000-8000-000000000001 --failed --endpoint shop"),
        TestCase("01950000-0000-7000-8000-000000000001"),
        TestCase("seven --endpoint shop")
    ]
    public async Task Replay_says_which_messages_and_where_to(string arguments) =>
        Assert.That(await RunAsync([.. "audit replay".Split(' '), .. arguments.Split(' ')]), Is.EqualTo(2));

    private IAuditReplayDesk Desk()
    {
        var desk = _host.Services.GetRequiredService<IAuditReplayDesk>();
        desk.ObstacleAt(null!, false).ReturnsForAnyArgs((Esb.Core.Errors.EsbException?)null);
        desk.ReplayAsync(null!, null!, default)
            .ReturnsForAnyArgs(call => new AuditReplay(
                call.Arg<AuditReplayRequest>().MessageId,
                call.Arg<AuditReplayRequest>().Endpoint,
                Guid.NewGuid(),
                DateTimeOffset.UnixEpoch
            ));
        return desk;
    }

    private Task<int> RunAsync(params string[] arguments) =>
        EsbCommandLine.InvokeAsync(
            [.. arguments, "--url", _host.Server.Address.ToString()],
            new CommandContext
            {
                Output = _output,
                Error = _error,
                Variables = new Dictionary<string, string> { ["ESB_KEY"] = _host.Key },
                Services = StandIns.Services,
                ReachTime = TimeSpan.FromMinutes(1), // the machine may be busy
            }
        );
}
