using Esb.Endpoints.Sql.Outbox;

namespace Esb.IntegrationTests.Transactions;

/// <summary>A pass over a lane in which one message cannot be published.</summary>
[TestFixture, CancelAfter(60_000)]
internal sealed class OutboxPassTests : OutboxFixture
{
    [Test]
    public async Task Message_that_fails_as_nobody_foresaw_keeps_only_its_own_key_waiting(CancellationToken cancellationToken)
    {
        var keys = KeysOfOneLane(2);
        var (bad, behind, good) = (Keyed(keys[0]), Keyed(keys[0]), Keyed(keys[1]));
        var lane = await AddAsync([bad, behind, good], cancellationToken);
        var isBad = true;
        var publisher = new Publisher(outgoing =>
            isBad && outgoing.Message.Id == bad.Id ? throw new InvalidOperationException("A bug.") : Task.CompletedTask
        );
        var pass = new OutboxPass(lane, Table, Database, publisher);
        var holds = new OutboxHolds();

        var result = await pass.RunAsync(holds, cancellationToken);
        var (failure, first) = (pass.Failure, publisher.Published);
        var held = await pass.RunAsync(holds, cancellationToken);
        isBad = false;
        await pass.RunAsync(new OutboxHolds(), cancellationToken);

        Assert.That(
            (result, failure),
            Is.EqualTo((OutboxPassResult.Published, "A message cannot be published: InvalidOperationException."))
        );
        Assert.That(first, Is.EqualTo(new[] { good.Id }), "the other key goes on");
        Assert.That(held, Is.EqualTo(OutboxPassResult.Empty));
        Assert.That(publisher.Published, Is.EqualTo(new[] { good.Id, bad.Id, behind.Id }), "each once, and in the order of its key");
    }
}
