using Esb.Core.Storage;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every store of leases promises.</summary>
[CancelAfter(60_000)]
public abstract class LeaseStoreContract
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(300);

    private readonly string _name = $"endpoint {Guid.NewGuid():N}";
    private ILeaseStore _leases = null!;

    protected abstract Task<ILeaseStore> OpenAsync();

    protected abstract Task CloseAsync();

    [OneTimeSetUp]
    public async Task Open() => _leases = await OpenAsync();

    [OneTimeTearDown]
    public Task Close() => CloseAsync();

    [TearDown]
    public async Task Free()
    {
        while (await _leases.AcquireAsync(_name, "test", TimeSpan.Zero, CancellationToken.None) is null)
            await Task.Delay(Short);
    }

    [Test]
    public async Task One_of_many_who_ask_at_once_gets_it(CancellationToken cancellationToken)
    {
        var leases = await Task.WhenAll(
            Enumerable.Range(0, 20).Select(number => _leases.AcquireAsync(_name, $"host {number}", Long, cancellationToken))
        );
        foreach (var lease in leases.OfType<Lease>())
            await _leases.ReleaseAsync(lease, cancellationToken);

        Assert.That(leases.OfType<Lease>().Count(), Is.EqualTo(1));
    }

    [Test]
    public async Task Lease_that_runs_out_goes_to_the_next_with_a_larger_token_and_cannot_be_renewed(CancellationToken cancellationToken)
    {
        var first = await _leases.AcquireAsync(_name, "first", Long, cancellationToken);
        Assert.That(await _leases.AcquireAsync(_name, "second", Long, cancellationToken), Is.Null);

        Assert.That(await _leases.RenewAsync(first!, Short, cancellationToken), Is.True);
        var second = await AcquireOnceFreeAsync("second", cancellationToken);

        Assert.That(second.Token, Is.GreaterThan(first!.Token));
        Assert.That(await _leases.RenewAsync(first, Long, cancellationToken), Is.False);
        await _leases.ReleaseAsync(first, cancellationToken);
        var third = await _leases.AcquireAsync(_name, "third", Long, cancellationToken);
        await _leases.ReleaseAsync(second, cancellationToken);
        Assert.That(third, Is.Null, "what is not one's own cannot be given back");
    }

    [Test]
    public async Task Owner_that_asks_again_gets_a_new_lease_in_place_of_the_one_it_never_heard_of(CancellationToken cancellationToken)
    {
        var unheard = await _leases.AcquireAsync(_name, "first", Long, cancellationToken);

        var lease = await _leases.AcquireAsync(_name, "first", Long, cancellationToken);
        var renewed = await _leases.RenewAsync(unheard!, Long, cancellationToken);
        await _leases.ReleaseAsync(lease!, cancellationToken);

        Assert.That(lease!.Token, Is.GreaterThan(unheard!.Token));
        Assert.That(renewed, Is.False);
    }

    [Test]
    public async Task Renewed_lease_outlives_its_first_end(CancellationToken cancellationToken)
    {
        Lease? lease;
        do lease = await _leases.AcquireAsync(_name, "first", Short, cancellationToken);
        while (!await _leases.RenewAsync(lease!, Long, cancellationToken)); // a busy machine may be too late for one

        await Task.Delay(2 * Short, cancellationToken);
        var second = await _leases.AcquireAsync(_name, "second", Short, cancellationToken);
        await _leases.ReleaseAsync(lease!, cancellationToken);

        Assert.That(second, Is.Null);
    }

    [Test]
    public async Task Lease_that_is_given_back_is_free_at_once(CancellationToken cancellationToken)
    {
        var lease = await _leases.AcquireAsync(_name, "first", Long, cancellationToken);

        await _leases.ReleaseAsync(lease!, cancellationToken);

        Assert.That(await _leases.AcquireAsync(_name, "second", Short, cancellationToken), Is.Not.Null);
    }

    private async Task<Lease> AcquireOnceFreeAsync(string owner, CancellationToken cancellationToken)
    {
        while (true)
        {
            if (await _leases.AcquireAsync(_name, owner, Long, cancellationToken) is { } lease)
                return lease;
            await Task.Delay(Short / 10, cancellationToken);
        }
    }
}
