using Esb.Core;
using Esb.Core.Errors;

namespace Esb.Host.Lifecycle;

/// <summary>The start order of the parts: by stage, then by declared dependencies. The order of registration is irrelevant.</summary>
internal sealed class StartOrder
{
    private readonly List<IBusPart> _all;
    private readonly List<IBusPart> _order = [];
    private readonly List<IBusPart> _visiting = [];

    private StartOrder(IEnumerable<IBusPart> parts) =>
        _all = [.. parts.OrderBy(part => part.Stage).ThenBy(part => part.GetType().FullName, StringComparer.Ordinal)];

    /// <summary>The parts in start order.</summary>
    /// <exception cref="EsbException"><c>ESB-HOST-ORDER</c>: parts depend on each other, or on a later stage.</exception>
    public static IReadOnlyList<IBusPart> Of(IEnumerable<IBusPart> parts)
    {
        var order = new StartOrder(parts);
        foreach (var part in order._all)
            order.Visit(part);
        return order._order;
    }

    private void Visit(IBusPart part)
    {
        if (_order.Contains(part))
            return;
        var begun = _visiting.IndexOf(part);
        if (begun >= 0)
            throw Refuse($"wait for each other: {string.Join(" after ", _visiting.Skip(begun).Append(part).Select(NameOf))}");
        _visiting.Add(part);
        foreach (var earlier in _all.Where(other => other != part && part.StartsAfter.Any(type => type.IsInstanceOfType(other))))
        {
            if (earlier.Stage > part.Stage)
                throw Refuse($"contradict their stages: {NameOf(part)} ({part.Stage}) after {NameOf(earlier)} ({earlier.Stage})");
            Visit(earlier);
        }

        _visiting.RemoveAt(_visiting.Count - 1);
        _order.Add(part);
    }

    private static EsbException Refuse(string why) =>
        new("ESB-HOST-ORDER", $"The parts of the host cannot start, because they {why}.", FaultKind.Internal);

    private static string NameOf(IBusPart part) => part.GetType().Name;
}
