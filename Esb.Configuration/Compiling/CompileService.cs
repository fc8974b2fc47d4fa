using Microsoft.Extensions.DependencyInjection;

namespace Esb.Configuration.Compiling;

/// <summary>A service that exists only during the compile phase, separate from the services of the running bus.</summary>
/// <param name="Descriptor">The registration of the service; always a singleton of its compile phase.</param>
/// <param name="IsModel">True if the service is a result that is passed to the running bus.</param>
/// <param name="IsFixed">True if the service stays unchanged for the lifetime of the process.</param>
public sealed record CompileService(ServiceDescriptor Descriptor, bool IsModel, bool IsFixed = false);

/// <summary>Registers the services of the compile phase.</summary>
public static class CompileRegistration
{
    /// <summary>Registers the compiler of a model. Other compilers and the running bus resolve the model by its type.</summary>
    public static IServiceCollection AddCompiler<TModel, TCompiler>(this IServiceCollection services)
        where TModel : class
        where TCompiler : class, ICompiler<TModel> =>
        services
            .AddCompiling(ServiceDescriptor.Singleton<TCompiler, TCompiler>())
            .AddModel(provider => provider.GetRequiredService<TCompiler>().Compile());

    /// <summary>Registers a model that needs no compiler of its own, such as a section as it was read.</summary>
    public static IServiceCollection AddModel<TModel>(this IServiceCollection services, Func<IServiceProvider, TModel> compile)
        where TModel : class => services.AddSingleton(new CompileService(ServiceDescriptor.Singleton(compile), IsModel: true));

    /// <summary>Registers a model that stays unchanged for the lifetime of the process.</summary>
    public static IServiceCollection AddFixedModel<TModel>(this IServiceCollection services, Func<IServiceProvider, TModel> compile)
        where TModel : class =>
        services.AddSingleton(new CompileService(ServiceDescriptor.Singleton(compile), IsModel: true, IsFixed: true));

    /// <summary>Registers a section, as it was read, as a model of its type. Settings are immutable and need no compiler.</summary>
    internal static IServiceCollection AddSectionModel<TSettings>(this IServiceCollection services, string section, bool needsRestart) =>
        typeof(TSettings) == typeof(string)
            ? services // the name of the configuration is in BusIdentity
            : services.AddSingleton(
                new CompileService(
                    ServiceDescriptor.Singleton(
                        typeof(TSettings),
                        compiling => compiling.GetRequiredService<EsbConfiguration>().Section<object>(section)
                    ),
                    IsModel: true,
                    needsRestart
                )
            );

    /// <summary>Registers a rule that spans several sections.</summary>
    public static IServiceCollection AddRule<TRule>(this IServiceCollection services)
        where TRule : class, IConfigurationRule => services.AddCompiling<IConfigurationRule, TRule>();

    /// <summary>Registers a service that only compilers use.</summary>
    public static IServiceCollection AddCompiling<TService, TImplementation>(this IServiceCollection services)
        where TService : class
        where TImplementation : class, TService => services.AddCompiling(ServiceDescriptor.Singleton<TService, TImplementation>());

    /// <summary>Registers a service that only compilers use.</summary>
    public static IServiceCollection AddCompiling(this IServiceCollection services, ServiceDescriptor descriptor) =>
        services.AddSingleton(new CompileService(descriptor, IsModel: false));
}
