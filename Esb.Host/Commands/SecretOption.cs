using System.CommandLine;

namespace Esb.Host.Commands;

/// <summary>A rejected option for a secret: every user of the machine can see command lines.</summary>
internal sealed class SecretOption : Option<string>
{
    public const string Warning =
        "secrets on a command line are seen by everybody on this machine; use the key file or the environment variable ESB_KEY";

    public SecretOption(string name)
        : base(name)
    {
        Hidden = true;
        Recursive = true;
        Arity = ArgumentArity.ZeroOrOne;
        Validators.Add(result => result.AddError($"{name}: {Warning}"));
    }
}
