using Esb.Endpoints.Files;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Files;

/// <summary>A file is claimed by one host, and stays so until its message is safe.</summary>
[TestFixture, CancelAfter(30_000)]
internal sealed class FileClaimTests : FileInboundFixture
{
    [Test]
    public async Task Two_hosts_never_take_the_same_file(CancellationToken cancellationToken)
    {
        const int Files = 300;
        var (left, right) = (new RecordingIntake(), new RecordingIntake());
        for (var number = 0; number < Files; number++)
            await PutAsync(At($"{number}.xml"), $"{number}", cancellationToken);

        await using var first = await StartAsync(left);
        await using var second = await StartAsync(right);

        await Eventually.HoldsAsync(() => Done().Count == Files, "all are done", cancellationToken);
        Assert.That(left.Bodies.Concat(right.Bodies).ToList(), Is.Unique.And.Count.EqualTo(Files));
    }

    [Test]
    public async Task File_that_a_dead_host_had_claimed_is_taken_up_as_the_same_message(CancellationToken cancellationToken)
    {
        var first = new RecordingIntake { IsDurable = false, Answer = (_, _) => Task.FromResult<Task>(new TaskCompletionSource().Task) };
        var dead = await StartAsync(first);
        await PutAsync(At("order.xml"), "<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => first.Messages.Count == 1, "the first host has it", cancellationToken);

        var second = new RecordingIntake();
        await using var endpoint = await StartAsync(second);
        await Task.Delay(100, cancellationToken); // a few looks: nothing may happen as long as the first host lives
        Assert.That(second.Messages, Is.Empty);
        await dead.DisposeAsync();

        await Eventually.HoldsAsync(() => Done().Count == 1, "the second host has done it", cancellationToken);
        Assert.That(second.Messages.Single().Id, Is.EqualTo(first.Messages.Single().Id));
    }

    [Test]
    public async Task File_that_a_dead_host_had_claimed_is_left_to_the_endpoint_whose_pattern_has_its_name(
        CancellationToken cancellationToken
    )
    {
        var (orders, invoices) = (
            SomeFiles.InboundConfig(Folder) with
            {
                Pattern = "*.ord",
            },
            SomeFiles.InboundConfig(Folder) with
            {
                Name = "invoices",
                Pattern = "*.inv",
            }
        );
        var first = new RecordingIntake { IsDurable = false, Answer = (_, _) => Task.FromResult<Task>(new TaskCompletionSource().Task) };
        var dead = await StartAsync(first, orders);
        await PutAsync(At("1.ord"), "an order", cancellationToken);
        await Eventually.HoldsAsync(() => first.Messages.Count == 1, "the first host has it", cancellationToken);
        await dead.DisposeAsync();

        var (other, again) = (new RecordingIntake(), new RecordingIntake());
        await using var neighbour = await StartAsync(other, invoices);
        await PutAsync(At("2.inv"), "an invoice", cancellationToken);
        await Eventually.HoldsAsync(() => Done().Count == 1, "the neighbour has looked, and done its own", cancellationToken);
        await using var endpoint = await StartAsync(again, orders);
        await Eventually.HoldsAsync(() => Done().Count == 2, "the second host has done it", cancellationToken);

        Assert.That(other.Bodies, Is.EqualTo(["an invoice"]));
        Assert.That(again.Messages.Select(message => message.Id), Is.EqualTo([first.Messages.Single().Id]));
    }

    [Test]
    public async Task Claimed_file_that_no_pattern_has_the_name_of_any_more_is_told_once(CancellationToken cancellationToken)
    {
        var (log, time) = (new LogLines(), new ManualTime());
        await File.WriteAllTextAsync(At("1.ord"), "an order", cancellationToken);
        using (var dead = FileClaims.Open(SomeFiles.InboundConfig(Folder), time, log))
            dead.TryClaim("1.ord");
        using var claims = FileClaims.Open(SomeFiles.InboundConfig(Folder) with { Pattern = "*.xml" }, time, log);

        var taken = claims.TakeOver();
        var before = log.Warnings;
        time.Advance(TimeSpan.FromMinutes(1));
        claims.TakeOver();
        claims.TakeOver();

        Assert.That((taken.Count, before.Count), Is.EqualTo((0, 0)), "another endpoint may only just be starting");
        Assert.That(log.Warnings, Has.Count.EqualTo(1).And.All.StartsWith("drop-box leaves '1.ord'"));
    }

    [Test]
    public async Task File_stays_claimed_until_its_message_has_arrived_where_the_bus_forgets(CancellationToken cancellationToken)
    {
        var arrived = new TaskCompletionSource();
        var intake = new RecordingIntake { IsDurable = false, Answer = (_, _) => Task.FromResult<Task>(arrived.Task) };
        await using var endpoint = await StartAsync(intake);
        await PutAsync(At("order.xml"), "<order/>", cancellationToken);
        await Eventually.HoldsAsync(() => intake.Messages.Count == 1, "it is handed over", cancellationToken);

        Assert.That(Claimed(), Has.Count.EqualTo(1));
        arrived.SetResult();

        await Eventually.HoldsAsync(() => Done().Count == 1 && Claimed().Count == 0, "it is done", cancellationToken);
    }

    [Test]
    public async Task Messages_that_have_not_arrived_do_not_hold_up_the_next_files(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake { IsDurable = false, Answer = (_, _) => Task.FromResult<Task>(new TaskCompletionSource().Task) };
        await using var endpoint = await StartAsync(intake);

        for (var number = 0; number < 20; number++)
            await PutAsync(At($"{number}.xml"), "<order/>", cancellationToken);

        await Eventually.HoldsAsync(() => intake.Messages.Count == 20, "all are handed over", cancellationToken);
    }

    [Test, Property("Case", "FIL-12")]
    public async Task File_that_its_writer_holds_locked_is_read_once_it_is_free(CancellationToken cancellationToken)
    {
        var intake = new RecordingIntake();
        await using (var writer = new FileStream(At("order.xml"), FileMode.CreateNew, FileAccess.Write, FileShare.None))
        {
            var log = new LogLines();
            await writer.WriteAsync("<order"u8.ToArray(), cancellationToken);
            await writer.FlushAsync(cancellationToken);
            await using var endpoint = await StartAsync(intake, log: log);
            await Eventually.HoldsAsync(
                () => log.Warnings.Any(line => line.StartsWith("ESB-FILE-BUSY", StringComparison.Ordinal)),
                "it finds the file in use",
                cancellationToken
            );
            await writer.WriteAsync("/>"u8.ToArray(), cancellationToken);
            await writer.DisposeAsync();

            await Eventually.HoldsAsync(() => Done().Count == 1, "it is done", cancellationToken);
        }

        Assert.That(intake.Bodies, Is.EqualTo(["<order/>"]));
    }

    [Test, Property("Case", "FIL-13")]
    public void File_that_disappears_before_it_is_claimed_is_no_error()
    {
        var log = new LogLines();
        using var claims = FileClaims.Open(SomeFiles.InboundConfig(Folder), TimeProvider.System, log);

        Assert.That(claims.TryClaim("gone.xml"), Is.Null);
        Assert.That(log.Warnings, Is.Empty);
    }

    [Test, Property("Case", "FIL-14")]
    public async Task File_that_cannot_be_put_away_is_not_handed_over_again_not_even_after_a_restart(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(At("done"), "a file where the folder should be", cancellationToken);
        var (log, intake) = (new LogLines(), new RecordingIntake());
        var config = SomeFiles.InboundConfig(Folder) with { Pattern = "*.xml" };
        await using (var endpoint = await StartAsync(intake, config, log))
        {
            await PutAsync(At("order.xml"), "<order/>", cancellationToken);
            await Eventually.HoldsAsync(() => log.Warnings.Count > 0, "it says so", cancellationToken);
        }

        Assert.That(log.Warnings, Has.One.StartsWith("ESB-FILE-ACCESS"));
        File.Delete(At("done"));
        await using var again = await StartAsync(intake, config);

        await Eventually.HoldsAsync(() => Done().Count == 1, "it is done", cancellationToken);
        Assert.That(intake.Messages, Has.Count.EqualTo(1));
    }
}
