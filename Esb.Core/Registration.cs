using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Core;

/// <summary>One line for each section, endpoint type and step that an assembly brings.</summary>
public static class Registration
{
    /// <summary>Registers a section of the configuration.</summary>
    public static IServiceCollection AddSection<TSettings>(this IServiceCollection services, string name, string description, string defaultJson = "{}") =>
        services.AddSingleton(new ConfigSection(name, typeof(TSettings), description, defaultJson));

    /// <summary>Registers an endpoint type under the name that the configuration uses.</summary>
    public static IServiceCollection AddEndpointType<TType, TSettings>(this IServiceCollection services, string kind, string description)
        where TType : class, IEndpointType
        where TSettings : EndpointConfig =>
        services.AddSingleton(new SettingsKind(typeof(EndpointConfig), kind, typeof(TSettings), description)).AddSingleton<IEndpointType, TType>();

    /// <summary>Registers a step under the name that the configuration uses.</summary>
    public static IServiceCollection AddStep<TFactory, TSettings>(this IServiceCollection services, string kind, string description)
        where TFactory : class, IStepFactory =>
        services.AddSingleton(new SettingsKind(typeof(StepConfig), kind, typeof(TSettings), description)).AddSingleton<IStepFactory, TFactory>();

    /// <summary>Registers kinds that are designed, but that this version cannot do: they are refused with <c>ESB-CFG-UNAVAILABLE</c>.</summary>
    public static IServiceCollection AddUnavailable<TBase>(this IServiceCollection services, params ReadOnlySpan<string> kinds)
    {
        foreach (var kind in kinds) services.AddSingleton(new SettingsKind(typeof(TBase), kind, null, ""));
        return services;
    }

    /// <summary>Registers sections that are designed, but that this version cannot do.</summary>
    public static IServiceCollection AddUnavailableSections(this IServiceCollection services, params ReadOnlySpan<string> names)
    {
        foreach (var name in names) services.AddSingleton(new ConfigSection(name, null, ""));
        return services;
    }
}
