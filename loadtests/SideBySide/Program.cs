using SideBySide;
using SideBySide.Bare;
using SideBySide.Steps;

return args switch
{
    ["bare", .. var rest] => await BareCommand.RunAsync(rest),
    ["steps", .. var rest] => await StepsCommand.RunAsync(rest),
    _ => await CompareCommand.RunAsync(args),
};
