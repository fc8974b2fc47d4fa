using Esb.Core.Audit;
using Esb.Storage.Segments;
using Esb.Storage.Spool;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Storage.Spool;

public sealed class AuditSpoolTests
{
    private string _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-").FullName;

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_folder, recursive: true);

    [Test, CancelAfter(10_000)]
    public async Task What_was_not_forgotten_is_there_after_a_restart(CancellationToken cancellationToken)
    {
        var facts = Enumerable.Range(0, 5).Select(_ => SomeFacts.Fact()).ToList();
        await using (var spool = Open())
        {
            foreach (var fact in facts) await spool.AppendAsync(fact, cancellationToken);
            await spool.PeekAsync(2, cancellationToken);
            await spool.ForgetAsync(cancellationToken);
            await spool.PeekAsync(2, cancellationToken);
        }

        await using var restarted = Open();
        var rest = await restarted.PeekAsync(100, cancellationToken);
        Assert.That(restarted.Length, Is.EqualTo(3));
        Assert.That(rest.Select(fact => fact.Id), Is.EqualTo(facts.Skip(2).Select(fact => fact.Id)));
    }

    [Test, CancelAfter(10_000)]
    public async Task Looking_waits_until_there_is_a_fact(CancellationToken cancellationToken)
    {
        await using var spool = Open();
        var looking = spool.PeekAsync(10, cancellationToken);
        var fact = SomeFacts.Fact();

        Assert.That(looking.IsCompleted, Is.False);
        await spool.AppendAsync(fact, cancellationToken);

        Assert.That((await looking).Single().Id, Is.EqualTo(fact.Id));
    }

    [Test, CancelAfter(10_000)]
    public async Task Segments_that_were_moved_are_deleted(CancellationToken cancellationToken)
    {
        await using var spool = Open();
        for (var number = 0; number < 50; number++) await spool.AppendAsync(SomeFacts.Fact(), cancellationToken);
        var before = SegmentFile.List(_folder).Count;

        await spool.PeekAsync(50, cancellationToken);
        await spool.ForgetAsync(cancellationToken);

        Assert.That(before, Is.GreaterThan(2));
        Assert.That(SegmentFile.List(_folder), Has.Count.EqualTo(1));
        Assert.That(spool.Length, Is.Zero);
    }

    [TestCase("nonsense")]
    [TestCase("")]
    [TestCase("99 5000")]
    [TestCase("1 999999")]
    [CancelAfter(10_000)]
    public async Task A_position_that_cannot_be_right_means_from_the_start(string position, CancellationToken cancellationToken)
    {
        var fact = SomeFacts.Fact();
        await using (var spool = Open()) await spool.AppendAsync(fact, cancellationToken);
        await File.WriteAllTextAsync(Path.Combine(_folder, "moved"), position, cancellationToken);

        await using var restarted = Open();

        Assert.That((await restarted.PeekAsync(10, cancellationToken)).Single().Id, Is.EqualTo(fact.Id));
    }

    [Test, CancelAfter(10_000)]
    public async Task A_refused_fact_is_kept_aside(CancellationToken cancellationToken)
    {
        var fact = SomeFacts.Fact();
        await using (var spool = Open()) await spool.QuarantineAsync(fact, cancellationToken);

        var kept = new SegmentReader(Path.Combine(_folder, "refused"), committed: null, NullLogger.Instance).ReadNew().Select(record => Esb.Storage.Files.StoredFact.Read(record.Payload).Single().Id);
        Assert.That(kept, Is.EqualTo([fact.Id]));
    }

    private AuditSpool Open() => new(_folder, new SegmentOptions(MaxSegmentBytes: 4000), TimeProvider.System, NullLogger.Instance);
}
