using Esb.Core.Storage;
using Esb.Storage.Files.Keys;
using Esb.Storage.Segments;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Storage.Files.Keys;

/// <summary>What of the keys in a folder outlives the process, and what goes with time.</summary>
[CancelAfter(10_000)]
public sealed class FileIdempotencyKeysTests
{
    private static readonly SegmentOptions SmallSegments = new(MaxSegmentBytes: 2_000);

    private readonly ManualTime _time = new();
    private readonly LogLines _lines = new();
    private DirectoryInfo _folder = null!;
    private SegmentLog? _log;
    private FileIdempotencyKeys _keys = null!;

    [SetUp]
    public async Task Open()
    {
        _folder = Directory.CreateTempSubdirectory("esb-keys-");
        await RestartAsync();
    }

    [TearDown]
    public async Task Delete()
    {
        await _log!.DisposeAsync();
        _folder.Delete(recursive: true);
        _lines.Dispose();
    }

    [Test]
    public async Task Answer_outlives_the_process(CancellationToken cancellationToken)
    {
        await AnswerAsync(SomeKeys.Key, SomeKeys.Answer(), cancellationToken);

        await RestartAsync();

        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Answered>());
        Assert.That(await ClaimAsync(SomeKeys.Key, "other", cancellationToken), Is.InstanceOf<KeyClaim.Conflicting>());
    }

    [Test]
    public async Task Key_of_a_process_that_died_at_work_is_free_for_the_same_body(CancellationToken cancellationToken)
    {
        await ClaimAsync(SomeKeys.Key, "body", cancellationToken);
        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Running>());

        await RestartAsync();

        Assert.That(await ClaimAsync(SomeKeys.Key, "other", cancellationToken), Is.InstanceOf<KeyClaim.Conflicting>());
        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
    }

    [Test]
    public async Task Answer_that_is_not_durable_ends_with_the_process(CancellationToken cancellationToken)
    {
        await AnswerAsync(SomeKeys.Key, SomeKeys.Answer(isDurable: false), cancellationToken);
        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Answered>());

        await RestartAsync();

        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
    }

    [TestCase(-1, true), TestCase(1, false), Property("Case", "T-DUP-4")]
    public async Task Key_is_remembered_for_seven_days(int minutesMore, bool isRemembered, CancellationToken cancellationToken)
    {
        await AnswerAsync(SomeKeys.Key, SomeKeys.Answer(), cancellationToken);

        _time.Advance(TimeSpan.FromDays(7) + TimeSpan.FromMinutes(minutesMore));

        Assert.That(await ClaimAsync(SomeKeys.Key, "body", cancellationToken), isRemembered ? Is.InstanceOf<KeyClaim.Answered>() : Is.InstanceOf<KeyClaim.Granted>());
    }

    [Test]
    public async Task Segments_go_when_all_of_them_is_older(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 20; i++) await AnswerAsync(KeyOf(i), SomeKeys.Answer(), cancellationToken);
        Assert.That(SegmentFile.List(_folder.FullName), Has.Count.GreaterThan(3));

        _time.Advance(TimeSpan.FromDays(8));
        await ClaimAsync(SomeKeys.Key, "body", cancellationToken);

        Assert.That(SegmentFile.List(_folder.FullName), Has.Count.LessThanOrEqualTo(2));
        Assert.That(await ClaimAsync(KeyOf(3), "body", cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
    }

    [Test]
    public async Task Oldest_keys_go_early_where_there_are_too_many_and_that_is_told(CancellationToken cancellationToken)
    {
        await RestartAsync(maxKeys: 10);
        for (var i = 0; i < 30; i++) await AnswerAsync(KeyOf(i), SomeKeys.Answer(), cancellationToken);

        _time.Advance(TimeSpan.FromHours(2));
        var newest = await ClaimAsync(KeyOf(29), "body", cancellationToken);
        var oldest = await ClaimAsync(KeyOf(0), "body", cancellationToken);

        Assert.That(newest, Is.InstanceOf<KeyClaim.Answered>());
        Assert.That(oldest, Is.InstanceOf<KeyClaim.Granted>());
        Assert.That(_lines.All.Where(line => line.Level == LogLevel.Warning).Select(line => line.Text), Has.Some.Contains("forgotten early"));
    }

    private static IdempotencyKey KeyOf(int number) => SomeKeys.Key with { Value = $"k-{number}" };

    private async Task RestartAsync(int maxKeys = 1000)
    {
        if (_log is not null) await _log.DisposeAsync();
        (_keys, _log) = SomeKeys.Open(_folder.FullName, SmallSegments, _time, maxKeys, _lines.CreateLogger("keys"));
        _keys.Open();
    }

    private Task<KeyClaim> ClaimAsync(IdempotencyKey key, string body, CancellationToken cancellationToken) => _keys.ClaimAsync(key, SomeKeys.HashOf(body), cancellationToken);

    private async Task AnswerAsync(IdempotencyKey key, RecordedAnswer answer, CancellationToken cancellationToken) =>
        await _keys.CompleteAsync((KeyClaim.Granted)await ClaimAsync(key, "body", cancellationToken), answer, cancellationToken);
}
