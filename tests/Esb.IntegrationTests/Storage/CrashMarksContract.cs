using Esb.Core.Storage;

namespace Esb.IntegrationTests.Storage;

/// <summary>What every keeper of crash marks promises.</summary>
public abstract class CrashMarksContract
{
    private ICrashMarks _marks = null!;

    protected abstract Task<ICrashMarks> OpenAsync();

    protected abstract Task CloseAsync();

    [SetUp]
    public async Task Open() => _marks = await OpenAsync();

    [TearDown]
    public Task Close() => CloseAsync();

    [Test, CancelAfter(60_000)]
    public async Task Marks_add_up_until_they_are_removed(CancellationToken cancellationToken)
    {
        var (one, other) = (Guid.NewGuid(), Guid.NewGuid());

        var counts = new List<int>();
        for (var i = 0; i < 3; i++)
            counts.Add(await _marks.AddAsync("a", one, cancellationToken));
        counts.Add(await _marks.AddAsync("a", other, cancellationToken));
        counts.Add(await _marks.AddAsync("b", one, cancellationToken));
        await _marks.RemoveAsync("a", one, cancellationToken);
        counts.Add(await _marks.AddAsync("a", one, cancellationToken));

        Assert.That(counts, Is.EqualTo([1, 2, 3, 1, 1, 1]));
    }

    [Test, CancelAfter(60_000)]
    public void Taking_marks_off_a_message_that_has_none_is_no_error(CancellationToken cancellationToken) =>
        Assert.That(() => _marks.RemoveAsync("a", Guid.NewGuid(), cancellationToken), Throws.Nothing);
}
