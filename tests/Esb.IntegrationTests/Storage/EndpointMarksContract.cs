using Esb.Core.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every keeper of endpoints' values promises.</summary>
public abstract class EndpointMarksContract
{
    private IEndpointMarks _marks = null!;
    private IEndpointMarks _other = null!;

    protected abstract Task<IEndpointMarks> OpenAsync();

    /// <summary>Those of another host, where hosts can share the store.</summary>
    protected virtual Task<IEndpointMarks> OpenOtherAsync() => Task.FromResult(_marks);

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open()
    {
        _marks = await OpenAsync();
        _other = await OpenOtherAsync();
    }

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(60_000)]
    public async Task Last_value_of_each_endpoint_and_name_is_found_until_it_is_removed(CancellationToken cancellationToken)
    {
        await _marks.KeepAsync("a", "last", "1", keep: null, cancellationToken);
        await _marks.KeepAsync("a", "last", "2", keep: TimeSpan.FromDays(1), cancellationToken);
        await _marks.KeepAsync("a", "first", "3", keep: null, cancellationToken);
        await _marks.KeepAsync("b", "last", "4", keep: null, cancellationToken);
        await _marks.RemoveAsync("a", "first", cancellationToken);

        var found = await Task.WhenAll(
            new[] { ("a", "last"), ("a", "first"), ("b", "last"), ("c", "last") }.Select(key =>
                _marks.FindAsync(key.Item1, key.Item2, cancellationToken)
            )
        );
        Assert.That(found, Is.EqualTo(new[] { "2", null, "4", null }));
    }

    [Test, CancelAfter(60_000)]
    public async Task Messages_are_numbered_without_gaps_and_each_keeps_its_number(CancellationToken cancellationToken)
    {
        var messages = Enumerable.Range(0, 20).Select(_ => Guid.NewGuid()).ToList();

        var first = await Task.WhenAll(
            messages.Concat(messages).Select((message, i) => (i % 2 == 0 ? _marks : _other).NumberAsync("a", message, cancellationToken))
        );
        var again = await _other.NumberAsync("a", messages[7], cancellationToken);
        var next = await _marks.NumberAsync("a", Guid.NewGuid(), cancellationToken);
        var elsewhere = await _marks.NumberAsync("b", messages[7], cancellationToken);

        Assert.That(first[..20].Order(), Is.EqualTo(Enumerable.Range(1, 20)));
        Assert.That(first.Skip(20), Is.EqualTo(first.Take(20)));
        Assert.That((again, next, elsewhere), Is.EqualTo((first[7], 21L, 1L)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Value_that_has_expired_is_not_found(CancellationToken cancellationToken)
    {
        await _marks.KeepAsync("a", "last", "1", keep: TimeSpan.FromSeconds(-1), cancellationToken);
        await _marks.KeepAsync("b", "last", "2", keep: null, cancellationToken);

        Assert.That(await _marks.FindAsync("a", "last", cancellationToken), Is.Null);
        Assert.That(await _marks.FindAsync("b", "last", cancellationToken), Is.EqualTo("2"));
    }
}

public sealed class FileEndpointMarksTests : EndpointMarksContract
{
    private readonly TestFolder _folder = new();

    protected override async Task<IEndpointMarks> OpenAsync() => (await _folder.OpenAsync()).EndpointMarks;

    protected override Task CloseAsync() => _folder.CloseAsync();
}

public sealed class PostgresEndpointMarksTests : EndpointMarksContract
{
    private TestSchema _schema = null!;

    protected override async Task<IEndpointMarks> OpenAsync() => (_schema = await TestSchema.ShareAsync()).Store.EndpointMarks;

    protected override async Task<IEndpointMarks> OpenOtherAsync()
    {
        var other = _schema.Open(Directory.CreateTempSubdirectory("esb-").FullName);
        await other.StartAsync(default);
        return other.EndpointMarks;
    }

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();

    [Test, CancelAfter(60_000)]
    public async Task Expired_values_of_a_long_pause_are_removed_little_by_little_and_hold_nothing_up(CancellationToken cancellationToken)
    {
        await _schema.RunAsync(
            """
            insert into endpoint_mark (endpoint, name, value, changed_at, expires_at)
            select 'old', 'n' || n, 'x', now(), now() - interval '1 hour' from generate_series(1, 1000) n
            """
        );
        var marks = _schema.Store.EndpointMarks;

        await marks.KeepAsync("a", "last", "1", keep: null, cancellationToken);
        var left = await CountOldAsync();
        for (var i = 0; i < 20; i++)
            await marks.KeepAsync("a", "last", "2", keep: null, cancellationToken);

        Assert.That(left, Is.InRange(1, 999), "millions would take longer than a command may");
        Assert.That(await CountOldAsync(), Is.Zero);
    }

    private async Task<long> CountOldAsync() =>
        (await _schema.QueryAsync<long>("select count(*) from endpoint_mark where endpoint = 'old'")).Single();
}
