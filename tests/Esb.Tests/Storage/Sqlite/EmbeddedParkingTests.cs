using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Tests.Storage.Sqlite;

[CancelAfter(60_000)]
public sealed class EmbeddedParkingTests
{
    [Test]
    public async Task What_is_still_parked_outlives_the_process_and_what_is_not_takes_no_room(CancellationToken cancellationToken)
    {
        await using var embedded = new EmbeddedStore();
        var store = await embedded.OpenAsync(cancellationToken);
        var owner = await store.Parking.TakeLaneAsync("out", 0, cancellationToken);
        var now = embedded.Time.GetUtcNow();
        var staying = Enumerable.Range(0, 3).Select(_ => Parked("stays", 1000, now)).ToList();
        foreach (var parked in staying)
            await store.Parking.ParkAsync(owner, parked, cancellationToken);
        await store.Parking.RescheduleAsync(
            owner,
            staying[0] with
            {
                Message = staying[0].Message with { Attempt = 5 },
                DueAt = now.AddDays(1),
            },
            cancellationToken
        );
        for (var i = 0; i < 50; i++)
        {
            var parked = Parked($"key {i}", 100_000, now);
            await store.Parking.ParkAsync(owner, parked, cancellationToken);
            await store.Parking.RemoveAsync(owner, parked, cancellationToken);
        }

        store = await embedded.ReopenAsync(cancellationToken);
        var line = await store.Parking.MessagesAsync("out", "stays", 0, 10, cancellationToken);

        Assert.That(new FileInfo(embedded.Database).Length, Is.LessThan(2 << 20));
        Assert.That(line.Select(parked => parked.Message.Id), Is.EqualTo(staying.Select(parked => parked.Message.Id)));
        Assert.That(line.Select(parked => parked.Message.Body.Length), Is.All.EqualTo(1000));
        Assert.That((line[0].Message.Attempt, line[0].DueAt), Is.EqualTo((5, (DateTimeOffset?)now.AddDays(1))));
    }

    [Test]
    public async Task Release_that_an_earlier_process_had_begun_can_be_taken_at_once(CancellationToken cancellationToken)
    {
        await using var embedded = new EmbeddedStore();
        var store = await embedded.OpenAsync(cancellationToken);
        var owner = await store.Parking.TakeLaneAsync("out", 0, cancellationToken);
        await store.Parking.ParkAsync(
            owner,
            Parked("a", 10, embedded.Time.GetUtcNow()) with
            {
                DueAt = embedded.Time.GetUtcNow(),
            },
            cancellationToken
        );
        Assert.That(await store.Parking.TakeDueAsync("out", cancellationToken), Is.EqualTo(new[] { "a" }));
        Assert.That(await store.Parking.TakeDueAsync("out", cancellationToken), Is.Empty);

        store = await embedded.ReopenAsync(cancellationToken);

        Assert.That(await store.Parking.TakeDueAsync("out", cancellationToken), Is.EqualTo(new[] { "a" }));
    }

    private static ParkedMessage Parked(string key, int size, DateTimeOffset now) =>
        new(Some.Message(key: key) with { Body = MessageBody.FromBytes(new byte[size]) }, now, [], null);
}
