using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration.Compiling;

/// <summary>A service that exists while a configuration is compiled, beside those of the running bus and apart from them.</summary>
/// <param name="Descriptor">How it is made; always a singleton of its compile phase.</param>
/// <param name="IsModel">Whether it is a result, which the running bus gets.</param>
/// <param name="IsFixed">Whether it stays as it is for as long as the process lives.</param>
public sealed record CompileService(ServiceDescriptor Descriptor, bool IsModel, bool IsFixed = false);

/// <summary>Registers what compiles configurations.</summary>
public static class CompileRegistration
{
    /// <summary>Registers the compiler of a model. Other compilers and the running bus get the model by its type.</summary>
    public static IServiceCollection AddCompiler<TModel, TCompiler>(this IServiceCollection services)
        where TModel : class
        where TCompiler : class, ICompiler<TModel> => services
        .AddCompiling(ServiceDescriptor.Singleton<TCompiler, TCompiler>())
        .AddModel(provider => provider.GetRequiredService<TCompiler>().Compile());

    /// <summary>Registers a model that takes no compiler of its own, such as a section as it was read.</summary>
    public static IServiceCollection AddModel<TModel>(this IServiceCollection services, Func<IServiceProvider, TModel> compile)
        where TModel : class =>
        services.AddSingleton(new CompileService(ServiceDescriptor.Singleton(compile), IsModel: true));

    /// <summary>Registers a model that stays as it is for as long as the process lives.</summary>
    public static IServiceCollection AddFixedModel<TModel>(this IServiceCollection services, Func<IServiceProvider, TModel> compile)
        where TModel : class =>
        services.AddSingleton(new CompileService(ServiceDescriptor.Singleton(compile), IsModel: true, IsFixed: true));

    /// <summary>Registers a section as it was read as a model of its type: settings are immutable, and need no compiler to be
    /// used.</summary>
    internal static IServiceCollection AddSectionModel<TSettings>(this IServiceCollection services, string section, bool needsRestart) => typeof(TSettings) == typeof(string)
        ? services // the name of the configuration is in BusIdentity
        : services.AddSingleton(new CompileService(
            ServiceDescriptor.Singleton(typeof(TSettings), compiling => compiling.GetRequiredService<EsbConfiguration>().Section<object>(section)),
            IsModel: true,
            needsRestart));

    /// <summary>Registers a rule about what several sections say together.</summary>
    public static IServiceCollection AddRule<TRule>(this IServiceCollection services)
        where TRule : class, IConfigurationRule => services.AddCompiling<IConfigurationRule, TRule>();

    /// <summary>Registers a service that only compilers use.</summary>
    public static IServiceCollection AddCompiling<TService, TImplementation>(this IServiceCollection services)
        where TService : class
        where TImplementation : class, TService =>
        services.AddCompiling(ServiceDescriptor.Singleton<TService, TImplementation>());

    /// <summary>Registers a service that only compilers use.</summary>
    public static IServiceCollection AddCompiling(this IServiceCollection services, ServiceDescriptor descriptor) =>
        services.AddSingleton(new CompileService(descriptor, IsModel: false));
}
