using SideBySide;
using SideBySide.Bare;

return args is ["bare", .. var rest]
    ? await BareCommand.RunAsync(rest)
    : await CompareCommand.RunAsync(args);
