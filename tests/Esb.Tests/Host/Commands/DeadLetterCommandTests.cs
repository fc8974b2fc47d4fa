using System.Text;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage;
using Esb.Storage.Files;
using Esb.Tests.Host.Management;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Host.Commands;

[CancelAfter(30_000)]
public sealed class DeadLetterCommandTests : CommandLineFixture
{
    private static readonly DateTimeOffset Now = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    [
        TestCase("dead-letters replay"),
        TestCase("dead-letters discard --reason no"),
        TestCase("dead-letters discard --all"),
        TestCase("dead-letters replay no-id"),
        TestCase("dead-letters list --state gone"),
        TestCase("replays pause"),
        Property("Case", "CLI-08")
    ]
    public async Task Command_that_does_not_say_what_it_means_is_refused(string arguments) =>
        Assert.That(await RunAsync(arguments.Split(' ')), Is.EqualTo(2), Error);

    [Test]
    public async Task Store_is_read_without_a_host()
    {
        var letter = await KeepAsync();
        var configuration = Path.Combine(Folder, "esb.json");
        await File.WriteAllTextAsync(configuration, """{ "store": { "folder": "data" } }""");
        var file = Path.Combine(Folder, "body.xml");

        Assert.That(await RunAsync("dead-letters", "list", "--endpoint", "shop", "--config", configuration), Is.Zero, Error);
        Assert.That(Output, Does.Contain(letter.Id.ToString()).And.Contain("ESB-HTTP-STATUS").And.Contain("open"));
        Assert.That(await RunAsync("dead-letters", "groups", "--by-cause", "--config", configuration), Is.Zero);
        Assert.That(Output, Does.Contain("The shop answered #."));
        Assert.That(await RunAsync("dead-letters", "show", $"{letter.Id}", "--body", file, "--config", configuration), Is.Zero);
        Assert.That(await File.ReadAllTextAsync(file), Is.EqualTo("<order/>"));
        Assert.That(await RunAsync("dead-letters", "show", $"{Guid.NewGuid()}", "--config", configuration), Is.EqualTo(2));
        Assert.That(await RunAsync("replays", "list", "--config", configuration), Is.Zero);
        Assert.That(Error, Does.Contain("There is no replay job."));
    }

    [Test]
    public async Task Replay_asks_the_host_and_waits_for_the_job(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var desk = host.Services.GetRequiredService<IDeadLetterDesk>();
        var id = Guid.NewGuid();
        var job = new ReplayJob
        {
            Id = Guid.CreateVersion7(),
            Command = "monday",
            Fingerprint = "f",
            Request = new ReplayRequest { Letters = new() },
            CreatedAt = Now,
            CreatedBy = "ada",
            Total = 3,
        };
        desk.ReplayAsync(null!, null, null!, default).ReturnsForAnyArgs(job);
        host.Services.GetRequiredService<IReplayJobStore>()
            .GetAsync(job.Id, Arg.Any<CancellationToken>())
            .Returns(job, job with { State = ReplayState.Stopped, Replayed = 2, Failed = 1, Trouble = "half of them came back" });
        var edited = Path.Combine(Folder, "mended.json");
        await File.WriteAllTextAsync(edited, """{"ok":true}""", cancellationToken);

        var exitCode = await RunAsync(
            "dead-letters",
            "replay",
            $"{id}",
            "--rate",
            "2.5",
            "--stop-at",
            "0.1",
            "--batch",
            "100",
            "--redirect",
            "ledger",
            "--out-of-order",
            "--edit",
            edited,
            "--content-type",
            "application/json",
            "--header",
            "x-a=b",
            "--reason",
            "mended",
            "--command",
            "monday",
            "--wait",
            "--url",
            host.Server.Address.ToString(),
            "--key-file",
            host.Server.KeyFile
        );

        var arguments = desk.ReceivedCalls().Single().GetArguments();
        var request = (ReplayRequest)arguments[0]!;
        Assert.That(exitCode, Is.EqualTo(1), Error);
        Assert.That(
            Output,
            Does.Contain($"job {job.Id}: 3 dead letters").And.Contain("stopped: 2 of 3 sent, 1 came back; half of them came back")
        );
        Assert.That(request.Letters.Ids, Is.EqualTo([id]));
        Assert.That(
            (request.Rate, request.StopAtFailureShare, request.BatchSize, request.Redirect, request.OutOfOrder),
            Is.EqualTo((2.5, 0.1, 100, "ledger", true))
        );
        Assert.That(
            (Encoding.UTF8.GetString(request.Edit!.Body!.Value.Span), request.Edit.ContentType, request.Edit.Headers!["x-a"]),
            Is.EqualTo(("""{"ok":true}""", "application/json", "b"))
        );
        Assert.That(arguments[1], Is.EqualTo("monday"));
        Assert.That((OperatorDecision)arguments[2]!, Is.EqualTo(new OperatorDecision(Environment.UserName, "mended")));
    }

    [Test]
    public async Task Preview_shows_groups_and_obstacles_and_changes_nothing(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var desk = host.Services.GetRequiredService<IDeadLetterDesk>();
        desk.PreviewAsync(null!, default)
            .ReturnsForAnyArgs(
                new ReplayPreview(
                    7,
                    [new DeadLetterGroup("gone", "ESB-X", "because", 7, Now, Now)],
                    ["There is no outbound endpoint 'gone'"]
                )
            );

        var exitCode = await RunAsync(
            "dead-letters",
            "replay",
            "--all",
            "--preview",
            "--url",
            host.Server.Address.ToString(),
            "--key-file",
            host.Server.KeyFile
        );

        Assert.That(exitCode, Is.EqualTo(2));
        Assert.That(Output, Does.Contain("7").And.Contain("because"));
        Assert.That(Error, Does.Contain("There is no outbound endpoint 'gone'"));
        await desk.DidNotReceiveWithAnyArgs().ReplayAsync(null!, null, null!, default);
    }

    [Test]
    public async Task Letters_are_discarded_by_a_filter_with_a_reason(CancellationToken cancellationToken)
    {
        await using var host = await RunningManagement.StartAsync(cancellationToken);
        var desk = host.Services.GetRequiredService<IDeadLetterDesk>();
        desk.DiscardAsync(null!, null!, default).ReturnsForAnyArgs(12);

        var exitCode = await RunAsync(
            "dead-letters",
            "discard",
            "--endpoint",
            "shop",
            "--reason",
            "paid by hand",
            "--url",
            host.Server.Address.ToString(),
            "--key-file",
            host.Server.KeyFile
        );

        Assert.That(exitCode, Is.Zero, Error);
        Assert.That(Output, Does.StartWith("12 dead letters discarded"));
        await desk.Received()
            .DiscardAsync(
                Arg.Is<DeadLetterFilter>(filter => filter.Endpoint == "shop" && filter.Ids == null),
                new OperatorDecision(Environment.UserName, "paid by hand"),
                Arg.Any<CancellationToken>()
            );
    }

    private async Task<DeadLetter> KeepAsync()
    {
        var letter = new DeadLetter(
            Some.Message("<order/>", "orders.new") with
            {
                Headers = MessageHeaders.From([new("x-order", "A-1001")]),
            },
            "shop",
            "ESB-HTTP-STATUS",
            "The shop answered 404.",
            null,
            1,
            Now,
            Now
        );
        await using var store = new FileStore(
            new FileStoreConfig { Folder = Path.Combine(Folder, "data") },
            TimeProvider.System,
            NullLogger<FileStore>.Instance
        );
        await store.StartAsync(CancellationToken.None);
        await store.DeadLetters.AddAsync(letter, CancellationToken.None);
        return letter;
    }
}
