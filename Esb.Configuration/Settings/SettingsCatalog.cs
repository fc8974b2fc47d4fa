using Esb.Core.Configuration.Settings;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration.Settings;

/// <summary>Every section and kind that the loaded assemblies registered: the vocabulary of a configuration. Immutable.</summary>
public sealed class SettingsCatalog
{
    private readonly ILookup<Type, SettingsKind> _kinds;

    /// <summary>Creates a catalog of these sections and kinds.</summary>
    /// <exception cref="InvalidOperationException">Two kinds of one sort, or two sections, have the same name. An unavailable kind, which
    /// has no settings, is replaced by a kind with settings.</exception>
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

    /// <summary>The top-level sections, in registration order.</summary>
    public IReadOnlyList<ConfigSection> Sections { get; }

    /// <summary>Returns the kinds of one sort, including those that are not available yet.</summary>
    public IReadOnlyList<SettingsKind> KindsOf(Type baseType) => [.. _kinds[baseType]];

    // An implemented kind replaces a kind of the same name that is only designed.
    private static List<SettingsKind> WithoutStandIns(List<SettingsKind> kinds)
    {
        var built = kinds.Where(kind => kind.Settings is not null).Select(kind => (kind.Base, kind.Kind)).ToHashSet();
        return kinds.FindAll(kind => kind.Settings is not null || !built.Contains((kind.Base, kind.Kind)));
    }

    /// <summary>Creates the catalog from the registrations of a service collection; no service is built.</summary>
    public static SettingsCatalog From(IServiceCollection services) =>
        new(
            services.Select(service => service.ImplementationInstance).OfType<ConfigSection>(),
            services.Select(service => service.ImplementationInstance).OfType<SettingsKind>()
        );
}
