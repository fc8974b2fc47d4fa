using Esb.Core.Configuration.Settings;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration.Settings;

/// <summary>Every section and kind that the loaded assemblies registered: what a configuration may say. Immutable.</summary>
public sealed class SettingsCatalog
{
    private readonly ILookup<Type, SettingsKind> _kinds;

    /// <summary>A catalog of these sections and kinds.</summary>
    /// <exception cref="InvalidOperationException">Two kinds of one sort, or two sections, have the same name. A kind without settings,
    /// which is not available, gives way to one that has some.</exception>
    public SettingsCatalog(IEnumerable<ConfigSection> sections, IEnumerable<SettingsKind> kinds)
    {
        Sections = [.. sections];
        var all = WithoutStandIns(kinds.ToList());
        foreach (var twins in all.GroupBy(kind => (kind.Base, kind.Kind)).Where(group => group.Count() > 1))
            throw new InvalidOperationException($"Two kinds of {twins.Key.Base.Name} are named '{twins.Key.Kind}'.");
        foreach (var twins in Sections.GroupBy(section => section.Name).Where(group => group.Count() > 1))
            throw new InvalidOperationException($"Two sections are named '{twins.Key}'.");
        _kinds = all.ToLookup(kind => kind.Base);
    }

    /// <summary>The top-level sections, in the order registered.</summary>
    public IReadOnlyList<ConfigSection> Sections { get; }

    /// <summary>The kinds of one sort, those that are not available yet included.</summary>
    public IReadOnlyList<SettingsKind> KindsOf(Type baseType) => [.. _kinds[baseType]];

    // A kind that somebody has built takes the place of the one that is only designed.
    private static List<SettingsKind> WithoutStandIns(List<SettingsKind> kinds)
    {
        var built = kinds.Where(kind => kind.Settings is not null).Select(kind => (kind.Base, kind.Kind)).ToHashSet();
        return kinds.FindAll(kind => kind.Settings is not null || !built.Contains((kind.Base, kind.Kind)));
    }

    /// <summary>The catalog of what has been registered with a service collection; nothing needs to be built for it.</summary>
    public static SettingsCatalog From(IServiceCollection services) => new(
        services.Select(service => service.ImplementationInstance).OfType<ConfigSection>(),
        services.Select(service => service.ImplementationInstance).OfType<SettingsKind>());
}
