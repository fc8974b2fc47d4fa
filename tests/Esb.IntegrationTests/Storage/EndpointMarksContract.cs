using Esb.Core.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every keeper of endpoints' values promises.</summary>
public abstract class EndpointMarksContract
{
    private IEndpointMarks _marks = null!;

    protected abstract Task<IEndpointMarks> OpenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _marks = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(30_000)]
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

    [Test, CancelAfter(30_000)]
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

    protected override async Task<IEndpointMarks> OpenAsync() => (_schema = await TestSchema.StartAsync()).Store.EndpointMarks;

    protected override Task CloseAsync() => _schema.DisposeAsync().AsTask();
}
