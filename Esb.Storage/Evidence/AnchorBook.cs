using System.Text;
using Esb.Core.Audit;
using Esb.Core.Errors;

namespace Esb.Storage.Evidence;

/// <summary>The anchors that count: those of days that were let go since do not.</summary>
internal sealed class AnchorBook
{
    public static readonly AnchorBook Empty = new([], [], withReleased: false);

    private readonly ILookup<(DateOnly Day, Guid Chain), Anchor> _heads;
    private readonly ILookup<DateOnly, string> _archives;

    private AnchorBook(IReadOnlyList<Anchor> anchors, IReadOnlyList<string> problems, bool withReleased)
    {
        var released = anchors.Where(anchor => anchor.Kind != AnchorKind.Head && !withReleased).GroupBy(anchor => anchor.Day).ToDictionary(day => day.Key, day => day.Max(anchor => anchor.At));
        var heads = anchors.Where(anchor => anchor is { Kind: AnchorKind.Head, Chain: not null } && !(released.TryGetValue(anchor.Day, out var at) && anchor.At <= at)).ToList();
        _heads = heads.ToLookup(anchor => (anchor.Day, anchor.Chain!.Value));
        _archives = anchors.Where(anchor => anchor.Archive is not null).ToLookup(anchor => anchor.Day, anchor => anchor.Archive!);
        (Count, Problems) = (heads.Count, problems);
        Began = anchors.Count == 0 ? null : DateOnly.FromDateTime(anchors.Min(anchor => anchor.At).UtcDateTime);
    }

    public int Count { get; }

    /// <summary>What is wrong with the files.</summary>
    public IReadOnlyList<string> Problems { get; }

    /// <summary>The day of the first anchor: from the next day on every fact has a chain. Null where there is none.</summary>
    public DateOnly? Began { get; }

    /// <param name="config">Where they are, and what signs them.</param>
    /// <param name="withReleased">Whether those count too that tell of days that were let go since, because an archive is looked at.</param>
    /// <exception cref="EsbException"><c>ESB-AUD-ANCHORS</c>: the folder cannot be read.</exception>
    public static AnchorBook Open(AuditEvidenceConfig config, bool withReleased = false)
    {
        if (config is not { Anchors: { } folder, AnchorKey: { } key }) return Empty;
        try
        {
            var (anchors, problems) = AnchorFile.ReadFolder(folder, Encoding.UTF8.GetBytes(key));
            return new AnchorBook(anchors, problems, withReleased);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new EsbException("ESB-AUD-ANCHORS", $"The anchors in '{folder}' cannot be read.", FaultKind.Unavailable, ex);
        }
    }

    /// <summary>Whether a file of a day is as it was when the day was let go; also where no anchors are kept that could tell.</summary>
    public bool IsAsArchived(DateOnly day, string sha256) => ReferenceEquals(this, Empty) || _archives[day].Any(archive => archive.EndsWith(sha256, StringComparison.Ordinal));

    public IReadOnlyCollection<Anchor> Of(DateOnly day, Guid chain) => [.. _heads[(day, chain)]];

    /// <summary>The chains of a period that anchors tell of.</summary>
    public IEnumerable<(DateOnly Day, Guid Chain)> Chains(DateOnly? from, DateOnly? to) =>
        _heads.Select(head => head.Key).Where(key => (from is null || key.Day >= from) && (to is null || key.Day <= to)).Order();
}
