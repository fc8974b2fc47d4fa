using System.CommandLine;

namespace Esb.Host.Commands;

/// <summary>An option that people try, and that must not be: what stands on a command line is seen by everybody on the machine.</summary>
internal sealed class SecretOption : Option<string>
{
    public const string Warning = "secrets on a command line are seen by everybody on this machine; use the key file or the environment variable ESB_KEY";

    public SecretOption(string name)
        : base(name)
    {
        Hidden = true;
        Recursive = true;
        Arity = ArgumentArity.ZeroOrOne;
        Validators.Add(result => result.AddError($"{name}: {Warning}"));
    }
}
