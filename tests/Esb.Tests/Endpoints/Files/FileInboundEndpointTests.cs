using Esb.Configuration;
using Esb.Core.Errors;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Files;

/// <summary>A file becomes a message, and is put away as what it became.</summary>
[TestFixture, CancelAfter(30_000)]
internal sealed class FileInboundEndpointTests : FileInboundFixture
{
    [Test]
    public async Task File_becomes_a_message_and_ends_in_done(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using var endpoint = await StartAsync(intake);

        await PutAsync(At("order.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => File.Exists(At("done", "order.xml")), "the file is done", cancellationToken);
        var message = intake.Messages.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(intake.Bodies, Is.EqualTo(["<order/>"]));
            Assert.That(message.ContentType, Is.EqualTo("application/xml"));
            Assert.That(message.Headers["x-file-name"], Is.EqualTo("order.xml"));
            Assert.That(message.ConversationId, Is.EqualTo(message.Id));
            Assert.That(File.Exists(At("order.xml")), Is.False);
        }
    }

    [TestCase("a.json", "application/json")]
    [TestCase("a.XML", "application/xml")]
    [TestCase("a.csv", "application/octet-stream")]
    public async Task Content_type_comes_from_the_ending(string name, string contentType, CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using var endpoint = await StartAsync(intake);

        await File.WriteAllTextAsync(At(name), "{}", cancellationToken);

        await Eventually.HoldsAsync(() => intake.Messages.Count == 1, "it is handed over", cancellationToken);
        Assert.That(intake.Messages[0].ContentType, Is.EqualTo(contentType));
    }

    [Test]
    public async Task Names_that_come_again_never_collide_in_done(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using var endpoint = await StartAsync(intake);

        for (var round = 1; round <= 3; round++)
        {
            await PutAsync(At("order.xml"), $"<order>{round}</order>", cancellationToken);
            await Eventually.HoldsAsync(() => Done().Count == round, $"round {round} is done", cancellationToken);
        }

        Assert.That(Done().Select(File.ReadAllText), Is.EquivalentTo(["<order>1</order>", "<order>2</order>", "<order>3</order>"]));
        Assert.That(Done().Select(Path.GetFileName), Has.One.Contains(intake.Messages[2].Id.ToString("N")));
    }

    [Test, Property("Case", "FIL-07")]
    public async Task Name_with_a_line_break_travels_escaped(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using var endpoint = await StartAsync(intake);

        await PutAsync(At("or\nder.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => Done().Count == 1, "it is done", cancellationToken);
        Assert.That(intake.Messages.Single().Headers["x-file-name"], Is.EqualTo("or\\u000Ader.xml"));
    }

    [Test, Property("Case", "FIL-06")]
    public async Task Longest_name_that_a_file_system_allows_is_read_and_put_away_twice(CancellationToken cancellationToken)
    {
        var name = new string('x', 251) + ".xml";
        await using var endpoint = await StartAsync(new RecordingIntake());

        for (var round = 1; round <= 2; round++)
        {
            await File.WriteAllTextAsync(At(name), "<order/>", cancellationToken);
            await Eventually.HoldsAsync(() => Done().Count == round, $"round {round} is done", cancellationToken);
        }
    }

    [Test, Property("Case", "FIL-16")]
    public async Task Done_folder_may_be_on_another_volume(CancellationToken cancellationToken)
    {
        var other = Directory.CreateDirectory($"/dev/shm/esb-{Guid.NewGuid():N}");
        try
        {
            await using var endpoint = await StartAsync(
                new RecordingIntake(),
                SomeFiles.InboundConfig(Folder) with
                {
                    Done = other.FullName,
                }
            );

            await PutAsync(At("order.xml"), "<order/>", cancellationToken);

            await Eventually.HoldsAsync(() => other.GetFiles().Length == 1 && Claimed().Count == 0, "it is done", cancellationToken);
            Assert.That(other.GetFiles().Select(file => (file.Name, file.Length)), Is.EqualTo([("order.xml", 8L)]));
        }
        finally
        {
            other.Delete(recursive: true);
        }
    }

    [Test]
    public async Task File_is_tried_again_as_the_same_message_while_the_broker_is_away(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        intake.Answer = (_, _) =>
            intake.Messages.Count < 3
                ? throw new EsbException("ESB-TOPIC-UNAVAILABLE", "The broker is away.", FaultKind.Unavailable)
                : Task.FromResult(Task.CompletedTask);
        await using var endpoint = await StartAsync(intake);

        await PutAsync(At("order.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => Done().Count == 1, "the file is done after all", cancellationToken);
        Assert.That(intake.Messages.Select(message => message.Id).Distinct().Count(), Is.EqualTo(1));
        Assert.That(intake.Bodies, Is.All.EqualTo("<order/>"));
    }

    [TestCase(1)]
    [TestCase(3)]
    public async Task As_many_files_are_handed_over_at_once_as_configured(int calls, CancellationToken cancellationToken)
    {
        var (now, most) = (0, 0);
        var gate = new Lock();
        var full = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var intake = new RecordingIntake();
        intake.Answer = async (_, token) =>
        {
            lock (gate)
                most = Math.Max(most, ++now);
            if (most >= calls)
                full.TrySetResult();
            await full.Task.WaitAsync(token);
            await Task.Delay(10, token); // for one too many
            lock (gate)
                now--;
            return Task.CompletedTask;
        };
        for (var number = 0; number < 30; number++)
            await PutAsync(At($"{number}.xml"), "<order/>", cancellationToken);

        await using var endpoint = await StartAsync(intake, SomeFiles.InboundConfig(Folder) with { MaxConcurrentCalls = calls });

        await Eventually.HoldsAsync(() => Done().Count == 30, "all are done", cancellationToken);
        Assert.That(most, Is.EqualTo(calls));
    }

    [Test, Property("Case", "T-AUD-1")]
    public async Task Files_stay_where_they_are_until_what_becomes_of_them_can_be_recorded(CancellationToken cancellationToken)
    {
        var (intake, gate) = (new RecordingIntake(), new ToldAuditGate());
        await using var endpoint = SomeFiles.Inbound(SomeFiles.InboundConfig(Folder), intake, audit: gate);
        await endpoint.StartAsync(cancellationToken);
        await PutAsync(At("before.xml"), "<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => Done().Count == 1, "the first file is done", cancellationToken);

        gate.Tell("the spool is full to 95 %");
        await Eventually.HoldsAsync(() => gate.Waiting == 1, "the endpoint looks no further", cancellationToken);
        for (var number = 0; number < 3; number++)
            await PutAsync(At($"{number}.xml"), $"{number}", cancellationToken);
        var (left, claimed, seen) = (Directory.GetFiles(Folder).Length, Claimed().Count, intake.Messages.Count);
        gate.Tell(null);

        await Eventually.HoldsAsync(() => Done().Count == 4, "all are done", cancellationToken);
        Assert.That((left, claimed, seen), Is.EqualTo((3, 0, 1)));
        Assert.That(intake.Bodies, Is.EquivalentTo(["<order/>", "0", "1", "2"]));
    }

    [Test, Property("Case", "T-OVL-1")]
    public async Task Files_stay_where_they_are_while_the_host_has_too_much_to_do(CancellationToken cancellationToken)
    {
        var overload = new ToldOverload(new LimitsConfig { InFlightHigh = 2, InFlightLow = 1 });
        for (var call = 0; call < 2; call++)
            overload.Gate.Enter(needsTopics: false); // callers of another endpoint

        await AssertHeldBackAsync(overload, overload.Gate.Leave, cancellationToken);

        Assert.That(overload.Gate.InFlight, Is.EqualTo(1), "its own have left");
    }

    [Test, Property("Case", "T-OVL-1")]
    public async Task Files_stay_where_they_are_while_memory_is_short(CancellationToken cancellationToken)
    {
        var overload = new ToldOverload(new LimitsConfig()) { Memory = 90 };

        await AssertHeldBackAsync(overload, () => overload.Memory = 10, cancellationToken);
    }

    [Test]
    public async Task Files_stay_where_they_are_while_the_topics_take_nothing(CancellationToken cancellationToken)
    {
        var overload = new ToldOverload(new LimitsConfig()) { AreTopicsReady = false };

        await AssertHeldBackAsync(overload, () => overload.AreTopicsReady = true, cancellationToken);
    }

    [Test]
    public async Task Stopping_ends_the_wait_for_a_host_that_has_too_much_to_do(CancellationToken cancellationToken)
    {
        var (intake, overload) = (new RecordingIntake(), new ToldOverload(new LimitsConfig()) { Memory = 90 });
        await using var endpoint = SomeFiles.Inbound(SomeFiles.InboundConfig(Folder), intake, overload: overload.Gate);
        await PutAsync(At("order.xml"), "<order/>", cancellationToken);
        await endpoint.StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => overload.Asked > 0, "it waits", cancellationToken);

        await endpoint.StopAsync(cancellationToken);

        Assert.That((File.Exists(At("order.xml")), intake.Messages.Count), Is.EqualTo((true, 0)));
    }

    [Test]
    public async Task Stopping_waits_for_the_file_that_is_handed_over(CancellationToken cancellationToken)
    {
        var go = new TaskCompletionSource();
        var intake = new RecordingIntake
        {
            Answer = async (_, _) =>
            {
                await go.Task;
                return Task.CompletedTask;
            },
        };
        await using var endpoint = await StartAsync(intake);
        await PutAsync(At("order.xml"), "<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => intake.Messages.Count == 1, "it is being handed over", cancellationToken);

        var stopping = endpoint.StopAsync(cancellationToken);
        Assert.That(stopping.IsCompleted, Is.False);
        go.SetResult();
        await stopping;

        Assert.That(Done(), Has.Count.EqualTo(1));
    }

    private async Task AssertHeldBackAsync(ToldOverload overload, Action relieve, CancellationToken cancellationToken)
    {
        var (intake, before) = (new RecordingIntake(), overload.Asked);
        for (var number = 0; number < 3; number++)
            await PutAsync(At($"{number}.xml"), $"{number}", cancellationToken);
        await using var endpoint = SomeFiles.Inbound(SomeFiles.InboundConfig(Folder), intake, overload: overload.Gate);
        await endpoint.StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => overload.Asked > before + 1, "it has asked and waits", cancellationToken);
        var (left, seen) = (Directory.GetFiles(Folder).Length, intake.Messages.Count);
        relieve();

        await Eventually.HoldsAsync(() => Done().Count == 3, "all are done", cancellationToken);
        Assert.That((left, seen), Is.EqualTo((3, 0)));
        Assert.That(intake.Bodies, Is.EquivalentTo(["0", "1", "2"]));
    }
}
