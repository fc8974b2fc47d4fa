using Esb.Core.Storage;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every place for bodies promises.</summary>
[CancelAfter(60_000)]
public abstract class ClaimCheckStoreContract
{
    private IClaimCheckStore _claims = null!;

    protected abstract Task<IClaimCheckStore> OpenAsync();

    protected abstract Task CloseAsync();

    [OneTimeSetUp]
    public async Task Open() => _claims = await OpenAsync();

    [OneTimeTearDown]
    public Task Close() => CloseAsync();

    [TestCase(0), TestCase(1), TestCase(300_000), TestCase(5_000_000)]
    public async Task Body_is_found_as_it_was(int length, CancellationToken cancellationToken)
    {
        var body = Body(length);

        var ticket = await _claims.PutAsync(body, cancellationToken);
        var found = await _claims.FindAsync(ClaimTicket.Parse(ticket.ToString())!, cancellationToken);

        Assert.That(_claims.IsAvailable, Is.True);
        Assert.That(found!.Bytes.Span.SequenceEqual(body), Is.True);
        Assert.That(ticket.KeptAt, Is.EqualTo(TimeProvider.System.GetUtcNow()).Within(TimeSpan.FromMinutes(1)));
    }

    [Test]
    public async Task Bodies_at_the_same_time_have_tickets_of_their_own(CancellationToken cancellationToken)
    {
        var bodies = Enumerable.Range(0, 50).Select(_ => Body(10_000)).ToList();

        var tickets = await Task.WhenAll(bodies.Select(body => _claims.PutAsync(body, cancellationToken)));
        var found = await Task.WhenAll(tickets.Select(ticket => _claims.FindAsync(ticket, cancellationToken)));

        Assert.That(tickets.Select(ticket => ticket.Id).Distinct().Count(), Is.EqualTo(50));
        Assert.That(found.Select(body => body!.Bytes.ToArray()), Is.EqualTo(bodies));
    }

    [Test]
    public async Task Nothing_is_found_for_another_id_or_another_hash(CancellationToken cancellationToken)
    {
        var ticket = await _claims.PutAsync(Body(1_000), cancellationToken);
        var other = await _claims.PutAsync(Body(1_000), cancellationToken);

        Assert.That(await _claims.FindAsync(ticket with { Hash = other.Hash }, cancellationToken), Is.Null);
        Assert.That(await _claims.FindAsync(ticket with { Id = Guid.CreateVersion7() }, cancellationToken), Is.Null);
        Assert.That(
            await _claims.FindAsync(ticket with { Id = Guid.CreateVersion7(DateTimeOffset.UnixEpoch) }, cancellationToken),
            Is.Null
        );
    }

    private static byte[] Body(int length)
    {
        var body = new byte[length];
        Random.Shared.NextBytes(body);
        return body;
    }
}
